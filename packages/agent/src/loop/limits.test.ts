import { noUsage, runId } from "@millrace/core/writing";
import { call, scriptedModel } from "@millrace/core/testing";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../define/define-agent.ts";
import { Driving, outcomeOf, plainTool } from "../testing/driving.ts";
import { limitsOf, readLimits } from "./limits.ts";
import type { Limits } from "../definition/limits.ts";
import { emptyRun } from "./state.ts";

/** A run under these limits after this many replies, each with one call. */
function after(
  replies: number,
  limits: Limits,
  usage: Partial<typeof noUsage> & { readonly cost?: number } = {},
): string {
  const session = new Driving({ limits });
  for (let reply = 0; reply < replies && outcomeOf(session) === "goes on"; reply += 1) {
    // Other arguments each time, so that nothing repeats.
    const calls = [{ callId: "c1", tool: "look", raw: `{"n":${reply}}` }];
    session.answerWith({ stop: "tools", calls, usage: { ...noUsage, ...usage } });
    session.endAssessing(({ itemId }) => ({ decision: "allow", hash: itemId }));
    session.settle();
    session.endCall(session.call(1).itemId, "ok");
    session.settle();
  }
  return outcomeOf(session);
}

describe("a limit", () => {
  it.each([
    ["of turns", { turns: 3 }, {}, "turns"],
    ["of tokens", { tokens: 30 }, { inputTokens: 7, outputTokens: 3 }, "tokens"],
    ["of cost", { cost: 3 }, { inputTokens: 1, cost: 1 }, "cost"],
  ] as const)("%s ends a run once it is reached, and not before", (_, limits, usage, name) => {
    expect(after(2, limits, usage)).toBe("goes on");
    expect(after(3, limits, usage)).toBe(`limited by ${name}`);
    expect(after(9, limits, usage)).toBe(`limited by ${name}`);
  });

  it.each([
    [29_999, "goes on"],
    [30_000, "limited by seconds"],
    [30_001, "limited by seconds"],
  ])("of 30 seconds, after %i ms: %s", (ms, outcome) => {
    const session = new Driving({ limits: { seconds: 30 } });
    session.send();
    session.settle();
    session.now += ms;
    session.settle();
    if (session.reply?.stopped === true) {
      session.endReply({ stop: "aborted" });
      session.settle();
    }

    expect(outcomeOf(session)).toBe(outcome);
  });

  it("of tokens counts attempts that failed", () => {
    const session = new Driving({ limits: { tokens: 20 } });
    session.send();
    session.settle();
    session.retry({ ...noUsage, inputTokens: 15 });
    session.endReply({ stop: "tools", usage: { ...noUsage, inputTokens: 5 } });
    session.settle();

    expect(outcomeOf(session)).toBe("limited by tokens");
  });

  it("of cost holds although one reply has no price", () => {
    const session = new Driving({ limits: { cost: 5 } });
    session.answerWith({ stop: "tools", usage: { ...noUsage, inputTokens: 1, cost: 4 } });
    session.answerWith({ stop: "tools", usage: { ...noUsage, inputTokens: 1 } });
    session.answerWith({ stop: "tools", usage: { ...noUsage, inputTokens: 1, cost: 1 } });

    expect(outcomeOf(session)).toBe("limited by cost");
  });

  it("of a parent's budget forbids even the first request", () => {
    const session = new Driving();
    session.allowance = "tokens";
    session.send();

    expect(session.settle()).toStrictEqual([
      "begin_turn",
      "abandon_reply",
      "finish_turn",
      "finish_run",
    ]);
    expect(outcomeOf(session)).toBe("limited by tokens");
  });

  it("of nothing forbids even the first request", () => {
    const session = new Driving({ limits: { tokens: 0 } });
    session.send();
    session.settle();

    expect(outcomeOf(session)).toBe("limited by tokens");
  });
});

describe("the limits of a run", () => {
  const own = { turns: 10, seconds: 10, tokens: 10, cost: 10, repeats: 10, lost: 10 };

  it.each([
    [{}, own],
    [{ turns: 5 }, { ...own, turns: 5 }],
    [{ turns: 50 }, own],
    [{ turns: -1 }, own],
    [{ turns: Number.NaN }, own],
    [{ turns: "5" }, own],
    [
      { seconds: 0, tokens: 9, cost: 0.5, repeats: 1, lost: 2 },
      { turns: 10, seconds: 0, tokens: 9, cost: 0.5, repeats: 1, lost: 2 },
    ],
  ])("asked for as %j are the least of that and the agent's", (asked, limits) => {
    const session = new Driving({ limits: own });
    const run = emptyRun({ runId: runId("run_1"), startedAt: 0, limits: readLimits(asked) });

    expect(limitsOf(session.state(), run)).toStrictEqual(limits);
  });

  it("are what is asked for where the agent has none", () => {
    const run = emptyRun({
      runId: runId("run_1"),
      startedAt: 0,
      limits: { turns: 5 },
    });

    expect(limitsOf(new Driving().state(), run).turns).toBe(5);
  });

  it.each([[undefined], [null], ["5"], [[5]]])(
    "that are no object, as %j, limit nothing",
    (value) => {
      expect(readLimits(value).turns).toBeUndefined();
    },
  );
});

describe("the limits of an agent", () => {
  it("that are left out, also as undefined, are the defaults", async () => {
    const replies = Array.from({ length: 300 }, (_, n) => [call("gone", { n })]);
    const agent = defineAgent({ model: scriptedModel(replies), limits: { turns: undefined } });

    const result = await agent.run("go").result;

    expect(result).toMatchObject({ outcome: "limited", limit: "turns" });
  });
});

describe("a repetition", () => {
  /** The end of a run whose replies make these calls, one each, in this order. */
  function calling(calls: readonly string[], limits: Limits, polls?: number): string {
    const poll = { ...plainTool, repeats: polls };
    const session = new Driving({ limits, tools: { look: plainTool, poll } });
    for (const called of calls) {
      if (outcomeOf(session) !== "goes on") break;
      const [tool = "look", n = "0"] = called.split(":");
      session.answerWith({ stop: "tools", calls: [{ callId: "c1", tool, raw: `{"n":${n}}` }] });
      if (session.assessing === undefined) continue;
      session.endAssessing(({ itemId }) => ({ decision: "allow", hash: itemId }));
      session.settle();
      session.endCall(session.call(1).itemId, "ok");
      session.settle();
    }
    return outcomeOf(session);
  }
  const times = (count: number, ...calls: readonly string[]): readonly string[] =>
    Array.from({ length: count }, () => calls).flat();

  it.each([
    [1, ["look:1"]],
    [2, ["look:1", "look:2"]],
    [3, ["look:1", "look:2", "look:3"]],
    [4, ["look:1", "look:2", "look:3", "look:4"]],
  ])("of period %i ends a run when it comes as often as the limit says", (_, block) => {
    expect(calling(times(2, ...block), { repeats: 3 })).toBe("goes on");
    expect(calling([...times(2, ...block), ...block.slice(0, -1)], { repeats: 3 })).toBe("goes on");
    expect(calling(times(3, ...block), { repeats: 3 })).toBe("limited by repeats");
  });

  it("of period 5 is not noticed", () => {
    const block = ["look:1", "look:2", "look:3", "look:4", "look:5"];

    expect(calling(times(6, ...block), { repeats: 3 })).toBe("goes on");
  });

  it("is none if something else comes between", () => {
    expect(
      calling(times(6, "look:1", "look:1", "look:2", "look:3", "look:4"), { repeats: 3 }),
    ).toBe("goes on");
  });

  it("of a tool that polls is counted by the tool's own limit", () => {
    expect(calling(times(9, "poll:1"), { repeats: 3 }, 10)).toBe("goes on");
    expect(calling(times(10, "poll:1"), { repeats: 3 }, 10)).toBe("limited by repeats");
  });

  it("needs two calls, whatever the limit says", () => {
    expect(calling(["look:1"], { repeats: 0 })).toBe("goes on");
    expect(calling(times(2, "look:1"), { repeats: 0 })).toBe("limited by repeats");
  });

  it("is the same call also if a model writes its keys in another order", () => {
    const session = new Driving({ limits: { repeats: 3 } });
    for (const raw of ['{"a":1,"b":2}', '{"b":2,"a":1}', '{"a":1,"b":2}']) {
      session.answerWith({ stop: "tools", calls: [{ callId: "c1", tool: "look", raw }] });
      if (session.assessing === undefined) break;
      session.endAssessing(({ itemId }) => ({ decision: "allow", hash: itemId }));
      session.settle();
      session.endCall(session.call(1).itemId, "ok");
      session.settle();
    }

    expect(outcomeOf(session)).toBe("limited by repeats");
  });
});
