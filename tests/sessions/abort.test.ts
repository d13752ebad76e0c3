import { defineTool } from "@millrace/agent";
import type { Run, RunResult } from "@millrace/agent";
import { createModelStream } from "@millrace/core/model";
import { checkTranscript, partId } from "@millrace/core/writing";
import type { Fact, Model } from "@millrace/core";
import { call, fail, say, scriptedModel, stall } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rest, steps } from "./kit/clock.ts";
import type { HeldClock } from "./kit/clock.ts";
import { hashAtOnce } from "./kit/hash.ts";
import { stage } from "./kit/staged.ts";
import type { Staged } from "./kit/staged.ts";
import { anyInput } from "./kit/tools.ts";

let undo = (): void => undefined;
beforeAll(() => {
  undo = hashAtOnce();
});
afterAll(() => undo());

const look = defineTool({ name: "look", input: anyInput, effect: "pure", run: () => "seen" });
const pay = defineTool({
  name: "pay",
  input: anyInput,
  approve: "ask",
  run: () => "paid",
});
const whole = "Hello world.";

function sleeper(clock: HeldClock, ignoresSignal: boolean) {
  return defineTool({
    name: "sleep",
    input: anyInput,
    run: async (_, { signal }) => {
      await clock.sleep(60_000, ignoresSignal ? undefined : signal);
      signal.throwIfAborted();
      return "slept";
    },
  });
}

/** A session whose model follows a script. */
function scripted(replies: readonly ScriptedReply[], ignoresSignal = false): Promise<Staged> {
  return stage((clock) => ({
    model: scriptedModel(replies, { clock }),
    tools: [look, pay, sleeper(clock, ignoresSignal)],
    retry: { attempts: 3, baseMs: 10_000, capMs: 10_000 },
    context: { window: 1_000, compactAbove: 0.5, keep: 1 },
  }));
}

function finishes(facts: readonly Fact[]): readonly string[] {
  return facts.flatMap((fact) => (fact.type === "run_finished" ? [fact.outcome] : []));
}

function statuses({ session }: Staged): readonly string[] {
  return session.transcript.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === "tool_result" ? [part.status] : [])),
  );
}

describe("a stop that races with the end", () => {
  const scripts: Readonly<Record<string, readonly ScriptedReply[]>> = {
    "of a reply": [[say(whole)]],
    "of a run with a call": [[say("One moment."), call("look", {})], [say(whole)]],
    "of a run with two calls": [[call("look", {}), call("look", { a: 1 })], [say(whole)]],
    "of a run with a retry": [
      [say("Hel"), fail("overloaded", "busy", { retryable: true })],
      [say(whole)],
    ],
    "of a run with a call that is refused": [[call("gone", {})], [say(whole)]],
  };

  it.each(Object.entries(scripts))("%s has two outcomes and no third", async (_, script) => {
    const seen = new Set<string>();
    let races = 0;
    for (const twice of [false, true]) {
      for (let delay = 0, late = 0; late < 3; delay += 1) {
        const staged = await scripted(script);
        const run = staged.session.send("hi");
        for (let left = delay; left > 0; left -= 1) {
          await steps(1);
          if (left % 64 === 0) staged.clock.pass(10_000);
        }
        const over = finishes(await staged.facts()).length > 0;
        run.abort();
        if (twice) run.abort("again");
        const result = await staged.ended(run);
        checkRace(staged, result, finishes(await staged.facts()));
        await staged.session.close();
        races += 1;
        seen.add(result.outcome);
        if (over) late += 1;
        if (delay > 4_000) throw new Error("it never ends by itself");
      }
    }

    expect([...seen].toSorted()).toStrictEqual(["aborted", "completed"]);
    console.log(`count: a stop races with the end, ${races} moments, 0 third outcomes`);
  });

  /** What is stored agrees with the result, and nothing is left open. */
  function checkRace({ session }: Staged, result: RunResult, ends: readonly string[]): void {
    expect(ends).toStrictEqual(ends.length === 0 ? [] : [result.outcome]);
    // A prompt that was taken back before its run began leaves nothing.
    if (ends.length === 0) expect(session.transcript).toStrictEqual([]);
    const faults = checkTranscript(session.transcript).filter(
      ({ code }) => code !== "out_of_order",
    );
    expect(faults).toStrictEqual([]);
    const last = session.transcript.findLast(({ author }) => author === "model");
    expect(["aborted", "completed"]).toContain(result.outcome);
    if (result.outcome === "completed") {
      expect(last?.stop).toBe("end");
      expect(result.text).toBe(whole);
    } else if (last?.stop === "aborted") {
      const said = last.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
      expect(["One moment.", whole, "Hel"].some((text) => text.startsWith(said))).toBe(true);
    }
    expect(session.status).toBe("idle");
  }
});

/** Waits until the run has got so far. */
async function reach(staged: Staged, type: Fact["type"], times = 1): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    const facts = await staged.facts();
    if (facts.filter((fact) => fact.type === type).length >= times) return;
    await rest();
  }
  throw new Error(`never came to ${type}`);
}

describe("a run that is stopped", () => {
  const begin = async (staged: Staged, type: Fact["type"]): Promise<Run> => {
    const run = staged.session.send("hi");
    await reach(staged, type);
    await rest();
    return run;
  };

  it("while the model writes keeps what came, as an item that ended as aborted", async () => {
    const staged = await scripted([[say("Hello"), stall(), say(" world")], [say("again")]]);
    const run = await begin(staged, "turn_started");
    run.abort();

    expect(await staged.ended(run)).toMatchObject({ outcome: "aborted", text: "Hello" });
    expect(staged.session.transcript.at(-1)).toMatchObject({ author: "model", stop: "aborted" });
    const facts = await staged.facts();
    expect(facts.filter(({ type }) => type === "usage_reported")).toHaveLength(1);
    expect(await staged.ended(staged.session.send("on"))).toMatchObject({ text: "again" });
  });

  it("while a model writes that ignores its signal abandons the model, with what came", async () => {
    const ignoring: Model = {
      id: "ignoring/model",
      stream: () =>
        createModelStream({
          model: "ignoring/model",
          produce: async (writer) => {
            writer.emit({ op: "begin_part", partId: partId("p1"), kind: "text" });
            writer.emit({ op: "append_text", partId: partId("p1"), chunk: "Hello" });
            return await new Promise(() => undefined);
          },
        }),
    };
    const staged = await stage(() => ({ model: ignoring }));
    const run = await begin(staged, "turn_started");
    run.abort();

    expect(await staged.ended(run)).toMatchObject({ outcome: "aborted", text: "Hello" });
  });

  it("while it waits for a person is not carried out, whatever is answered later", async () => {
    const staged = await scripted([[call("pay", {})], [say("on")]]);
    const run = await begin(staged, "approval_requested");
    const [approval] = staged.session.approvals;
    run.abort();
    const result = await staged.ended(run);
    const late = await staged.session.allow(approval?.id ?? "none").accepted;

    expect(result.outcome).toBe("aborted");
    expect(statuses(staged)).toStrictEqual(["aborted"]);
    expect(late.accepted).toBe(false);
    const facts = await staged.facts();
    expect(facts.map(({ type }) => type)).not.toContain("tool_execution_started");
  });

  it.each([
    ["that listens", false],
    ["that does not", true],
  ])("while a tool %s runs keeps the results of those that are done", async (_, ignoresSignal) => {
    const staged = await scripted(
      [[call("look", {}), call("sleep", {})], [say("on")]],
      ignoresSignal,
    );
    const run = await begin(staged, "tool_execution_finished");
    run.abort();

    expect((await staged.ended(run)).outcome).toBe("aborted");
    expect(statuses(staged)).toStrictEqual(["ok", "aborted"]);
  });

  it("before it tries again keeps what the failed attempt brought, and tries no more", async () => {
    const busy = fail("overloaded", "busy", { retryable: true });
    const staged = await scripted([[say("Hel"), busy], [say("never")]]);
    const run = await begin(staged, "usage_reported");
    run.abort();

    expect(await staged.ended(run)).toMatchObject({ outcome: "aborted", text: "Hel" });
    expect(staged.session.transcript.at(-1)).toMatchObject({ stop: "aborted" });
  });

  it("while its context is compacted keeps the old context, and can be gone on with", async () => {
    const long = { usage: { inputTokens: 900, outputTokens: 1, cachedTokens: 0 } };
    const staged = await scripted([[say("one"), long], [stall()], [say("summary")], [say("on")]]);
    await staged.ended(staged.session.send("first"));
    const run = await begin(staged, "compaction_started");
    run.abort();

    expect((await staged.ended(run)).outcome).toBe("aborted");
    const facts = await staged.facts();
    const compacted = facts.find(({ type }) => type === "compaction_finished");
    expect(compacted).not.toHaveProperty("summary");
    expect(staged.session.compacting).toBe(false);
    expect((await staged.ended(staged.session.send("next"))).outcome).toBe("completed");
  });

  it("while a model sums up that does not listen is left behind", async () => {
    const long = { usage: { inputTokens: 900, outputTokens: 1, cachedTokens: 0 } };
    const ignoring: Model = {
      id: "ignoring/model",
      stream: () =>
        createModelStream({ model: "ignoring/model", produce: () => new Promise(() => undefined) }),
    };
    const staged = await stage((clock) => ({
      model: scriptedModel([[say("one"), long], [say("on")]], { clock }),
      tools: [look],
      context: { window: 1_000, compactAbove: 0.5, keep: 1, model: ignoring },
    }));
    await staged.ended(staged.session.send("first"));
    const run = await begin(staged, "compaction_started");
    run.abort();

    expect((await staged.ended(run)).outcome).toBe("aborted");
  });

  it("while a hook never answers about its calls ends, and can be gone on with", async () => {
    let asked = 0;
    let release = (): void => undefined;
    const held = new Promise<"allow">((resolve) => {
      release = () => resolve("allow");
    });
    const staged = await stage((clock) => ({
      model: scriptedModel([[call("look", {}), call("look", { a: 1 })], [say("on")]], { clock }),
      tools: [look],
      hooks: {
        beforeTool: () => {
          asked += 1;
          return held;
        },
      },
    }));
    const run = await begin(staged, "item_committed");
    await reach(staged, "usage_reported");
    await rest();
    run.abort();
    const result = await staged.ended(run);
    release();
    await rest();

    expect(result.outcome).toBe("aborted");
    expect(statuses(staged)).toStrictEqual(["aborted", "aborted"]);
    expect(asked).toBe(1);
    expect(await staged.ended(staged.session.send("next"))).toMatchObject({ text: "on" });
  });

  it("by its session, by its run and by its signal is stopped once", async () => {
    const staged = await scripted([[say("Hello"), stall()]]);
    const stop = new AbortController();
    const run = staged.session.send("hi", { signal: stop.signal });
    await reach(staged, "turn_started");
    await rest();
    stop.abort();
    staged.session.abort();
    run.abort();
    await staged.ended(run);
    const again = await run.abort().accepted;

    expect(again).toStrictEqual({ accepted: true });
    expect(finishes(await staged.facts())).toStrictEqual(["aborted"]);
  });

  it("stops the agents that run within it", async () => {
    const inner = await scripted([[say("thinking"), stall()]]);
    const staged = await stage((clock) => ({
      model: scriptedModel([[call("sub", { prompt: "dig" })]], { clock }),
      tools: [inner.agent.asTool({ name: "sub", description: "digs" })],
    }));
    const run = await begin(staged, "tool_execution_started");
    run.abort();

    expect((await staged.ended(run)).outcome).toBe("aborted");
    expect(statuses(staged)).toStrictEqual(["aborted"]);
  });
});
