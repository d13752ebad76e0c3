import { noUsage } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { allow, ask, Driving, outcomeOf, plainTool } from "../testing/driving.ts";
import type { CallStanding, CallVerdict } from "./state.ts";

const lostMessage =
  "the process that had this run ended 5 times in a row before it stored anything: look for a crash in its log, such as memory that ran out, and send again";

describe("a request that was lost with its driver", () => {
  const price = { input: 1_000, output: 10_000 };
  const models = [{ id: "m", price }];

  /** A run that has lost so many drivers while its model replied. */
  function afterLosing(count: number, settings: ConstructorParameters<typeof Driving>[0]): Driving {
    const session = new Driving({ models, ...settings });
    session.send();
    session.settle();
    for (let lost = 0; lost < count; lost += 1) {
      session.claim();
      session.settle();
    }
    return session;
  }

  it.each([
    ["tokens", 2_000, "limited by tokens"],
    ["tokens", 2_001, "goes on"],
    ["cost", 11, "limited by cost"], // 1,000 tokens read for 1 dollar, and as many written for 10
    ["cost", 11.01, "goes on"],
  ])("counts against a limit of %s of %d: %s", (name, limit, outcome) => {
    expect(outcomeOf(afterLosing(1, { limits: { [name]: limit } }))).toBe(outcome);
  });

  it.each([
    [4_001, "goes on"],
    [4_000, "limited by tokens"],
  ])("counts each time, with a limit of %d tokens: %s", (tokens, outcome) => {
    expect(outcomeOf(afterLosing(2, { limits: { tokens } }))).toBe(outcome);
  });

  it("is taken to have read the context of the reply before", () => {
    const session = new Driving({ limits: { tokens: 24_000 } });
    session.answerWith({ stop: "paused", usage: { ...noUsage, inputTokens: 8_000 } });
    session.claim();
    session.settle();
    expect(outcomeOf(session)).toBe("goes on"); // 8,000 and 9,000
    session.claim();
    session.settle();

    expect(outcomeOf(session)).toBe("limited by tokens");
  });

  it("ends a run whose cost is limited if its price is not known", () => {
    const session = afterLosing(1, { limits: { cost: 1_000 }, models: [{ id: "m" }] });

    expect(outcomeOf(session)).toBe("limited by price_unknown");
    expect(session.requests).toBe(1);
  });

  it("costs nothing where its driver released the run before it shut down", () => {
    const session = afterLosing(0, { limits: { tokens: 1, cost: 1, lost: 1 } });
    session.handOver();
    session.settle();

    expect(outcomeOf(session)).toBe("goes on");
    expect(session.requests).toBe(2);
  });

  it("is charged for a summary, too", () => {
    const session = new Driving({ limits: { tokens: 12_000 }, compactAbove: 5_000 });
    session.answerWith({ stop: "paused", usage: { ...noUsage, inputTokens: 6_000 } });
    expect(session.compaction).toBeDefined();
    session.claim();
    session.settle();

    expect(outcomeOf(session)).toBe("limited by tokens");
  });

  it("is charged when an engine reports it", () => {
    const session = afterLosing(0, { limits: { tokens: 2_000 } });
    session.loseStep();
    session.settle();

    expect(outcomeOf(session)).toBe("limited by tokens");
    expect(session.requests).toBe(1);
  });

  it("is asked five times under the default limit, and then the run has failed", () => {
    const session = afterLosing(4, { limits: { lost: 5 } });
    expect([outcomeOf(session), session.requests]).toEqual(["goes on", 5]);
    session.claim();

    expect(session.settle()).toEqual(["give_up"]);
    expect([outcomeOf(session), session.requests]).toEqual(["failed", 5]);
    expect(session.ledger.facts.slice(-3)).toMatchObject([
      { type: "item_committed", item: { stop: "failed", cause: { code: "driver_lost" } } },
      { type: "turn_finished", stop: "failed" },
      { type: "run_finished", cause: { code: "driver_lost", message: lostMessage } },
    ]);
  });

  it("counts from zero in the next run", () => {
    const session = afterLosing(5, { limits: { lost: 5 } });
    session.send();
    session.settle();
    for (let lost = 0; lost < 4; lost += 1) session.claim();
    session.settle();
    session.endReply({ stop: "end" });
    session.settle();

    expect(outcomeOf(session)).toBe("completed");
  });

  it("counts from zero in the row after any fact of the run, and is charged on", () => {
    const session = afterLosing(4, { limits: { lost: 5, tokens: 20_000 } });
    session.retry(noUsage);
    for (let lost = 0; lost < 4; lost += 1) session.claim();
    session.settle();
    expect(outcomeOf(session)).toBe("goes on");
    expect(session.run()).toMatchObject({ lost: 8, lostInRow: 4 });
  });
});

describe("a driver that is lost", () => {
  const limits = { lost: 3 };

  it("in a call that may run again ends the run the third time, with an answer to the call", () => {
    const session = new Driving({ limits });
    session.runUpToCalls(["look"]);
    session.settle();
    for (let lost = 0; lost < 3 && session.standing.run !== undefined; lost += 1) {
      session.claim();
      session.settle();
      session.endAssessing(allow);
      session.settle();
    }

    expect([outcomeOf(session), session.executed.length]).toEqual(["failed", 3]);
    expect(session.ledger.facts.slice(-4).map(({ type }) => type)).toEqual([
      "item_committed",
      "tool_execution_finished",
      "turn_finished",
      "run_finished",
    ]);
  });

  it("while the run waits for a person does not count", () => {
    const confirm = { ...plainTool, client: true };
    const session = new Driving({ limits, tools: { pay: plainTool, confirm } });
    session.answerWith({
      stop: "tools",
      calls: [
        { callId: "c1", tool: "pay" },
        { callId: "c2", tool: "confirm" },
      ],
    });
    const judge = (call: CallStanding): CallVerdict =>
      call.tool === "pay" ? ask(call) : allow(call);
    session.endAssessing(judge);
    session.settle();
    for (let lost = 0; lost < 9; lost += 1) {
      session.claim();
      session.settle();
      session.endAssessing(judge);
      session.settle();
    }

    expect(session.run()).toMatchObject({ lost: 0, lostInRow: 0 });
    expect(session.call(2).started).toBeDefined();
  });

  it("does not end a run that a person stops", () => {
    const session = new Driving({ limits });
    session.send();
    session.settle();
    for (let lost = 0; lost < 2; lost += 1) session.claim();
    session.abort();
    session.claim();
    session.settle();

    expect(outcomeOf(session)).toBe("aborted");
  });
});
