import { abortedCause } from "@millrace/core/model";
import { noUsage } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { allow, Driving } from "../testing/driving.ts";

const tooLong = { code: "context_overflow", message: "too long" };
const broken = { code: "broken", message: "broken" };

function lastFact(session: Driving): unknown {
  return session.ledger.facts.at(-1);
}

describe("an idle session", () => {
  it("waits without inputs", () => {
    expect(new Driving().next()).toStrictEqual({ do: "wait" });
  });

  it.each(["prompt", "steer", "follow_up"] as const)("begins a run for a %s", (kind) => {
    const session = new Driving();
    session.send(kind);

    expect(session.next()).toStrictEqual({
      do: "begin_turn",
      runId: "run_1",
      turnId: "turn_1_1",
      startsRun: true,
      takes: ["input_1"],
    });
  });

  it("takes the first prompt and all steers", () => {
    const session = new Driving();
    session.send("prompt");
    session.send("prompt");
    session.send("follow_up");
    session.send("steer");

    expect(session.next()).toMatchObject({ takes: ["input_1", "input_4"] });
  });

  it("begins no run for inputs that were queued when a run was stopped", () => {
    const session = new Driving();
    session.send();
    session.settle();
    session.send("steer");
    session.send("follow_up");
    session.abort();
    session.settle();
    session.endReply({ stop: "aborted" });
    session.settle();

    expect(session.next()).toStrictEqual({ do: "wait" });
    session.send("prompt");
    expect(session.next()).toMatchObject({ takes: ["input_2", "input_5"] });
  });
});

describe("the stop reason of a reply", () => {
  it.each([
    [{ stop: "end" }, { outcome: "completed" }],
    [{ stop: "length" }, { outcome: "limited", limit: "length" }],
    [{ stop: "filtered" }, { outcome: "failed", cause: { code: "filtered" } }],
    [{ stop: "aborted" }, { outcome: "aborted" }],
    [
      { stop: "truncated", cause: broken },
      { outcome: "failed", cause: broken },
    ],
    [
      { stop: "failed", cause: broken },
      { outcome: "failed", cause: broken },
    ],
  ] as const)("%j ends the run as %j", (reply, outcome) => {
    const session = new Driving();
    session.answerWith(reply);

    expect(lastFact(session)).toMatchObject({ type: "run_finished", ...outcome });
  });

  it.each(["tools", "paused"] as const)("%s makes another request follow", (stop) => {
    const session = new Driving();

    expect(session.answerWith({ stop })).toStrictEqual(["finish_turn", "begin_turn", "reply"]);
  });
});

describe("an input during a run", () => {
  it("is used before the next request if it is a steer, and never between a call and its result", () => {
    const session = new Driving();
    session.runUpToCalls(["pay"]);
    session.settle();
    session.send("steer");
    expect(session.settle()).toStrictEqual([]);
    session.endCall(session.call(1).itemId, "ok");
    session.perform(session.next());

    expect(session.next()).toMatchObject({
      do: "begin_turn",
      startsRun: false,
      takes: ["input_2"],
    });
  });

  it("continues the run after its natural end, steers first", () => {
    const session = new Driving();
    session.send();
    session.settle();
    session.send("follow_up");
    session.send("steer");
    session.endReply({ stop: "end" });
    session.perform(session.next());

    expect(session.next()).toMatchObject({ do: "begin_turn", takes: ["input_3"] });
    session.settle();
    session.endReply({ stop: "end" });
    session.perform(session.next());
    expect(session.next()).toMatchObject({ do: "begin_turn", takes: ["input_2"] });
  });

  it("waits for the next run if it is a prompt", () => {
    const session = new Driving();
    session.send();
    session.settle();
    session.send();
    session.endReply({ stop: "end" });

    expect(session.settle()).toStrictEqual(["finish_turn", "finish_run", "begin_turn", "reply"]);
    expect(session.run().runId).toBe("run_2");
  });
});

describe("a stop", () => {
  it("aborts the work in progress, waits for it, and ends the run with every call answered", () => {
    const session = new Driving();
    session.runUpToCalls(["pay", "look"]);
    session.settle();
    session.abort();

    expect(session.next()).toStrictEqual({ do: "interrupt" });
    session.perform(session.next());
    expect(session.next()).toStrictEqual({ do: "wait" });
    session.endCall(session.call(1).itemId, "ok");
    expect(session.next()).toStrictEqual({ do: "wait" });
    session.endCall(session.call(2).itemId, "aborted");
    expect(session.settle()).toStrictEqual(["finish_turn", "finish_run"]);
    expect(lastFact(session)).toMatchObject({ outcome: "aborted" });
  });

  it("before the first request stores an aborted item", () => {
    const session = new Driving();
    session.send();
    session.perform(session.next());
    session.abort();

    expect(session.settle()).toStrictEqual(["abandon_reply", "finish_turn", "finish_run"]);
  });

  it("between turns ends the run at once, with a turn that shows it", () => {
    const session = new Driving();
    session.send();
    session.settle();
    session.endReply({ stop: "tools" });
    session.perform(session.next());
    session.abort();

    expect(session.settle()).toStrictEqual(["show_stop", "finish_run"]);
  });

  it("answers calls that are not assessed yet, without waiting for the assessment", () => {
    const session = new Driving();
    session.answerWith({ stop: "tools", calls: [{ callId: "c1", tool: "pay" }] });
    session.abort();

    expect(session.assessing).toBeDefined();
    expect(session.settle()).toStrictEqual(["settle", "finish_turn", "finish_run"]);
  });

  it("that is sent twice is one stop", () => {
    const session = new Driving();
    session.send();
    session.settle();
    session.abort();
    session.abort();
    session.settle();
    session.endReply({ stop: "aborted" });

    expect(session.settle()).toStrictEqual(["finish_turn", "finish_run"]);
  });

  it("of another run, or of none, changes nothing", () => {
    const session = new Driving();
    session.abort();
    session.send();
    session.settle();
    session.input({ kind: "abort", runId: "run_other" as never });

    expect(session.next()).toStrictEqual({ do: "wait" });
  });
});

describe("a context that is too long", () => {
  const overflowing = (): Driving => {
    const session = new Driving();
    session.answerWith({ stop: "end" });
    session.send();
    session.settle();
    session.endReply({ stop: "failed", cause: tooLong });
    session.settle();
    return session;
  };

  it("is compacted, and then the request is sent again", () => {
    const session = overflowing();

    expect(session.compaction).toBeDefined();
    session.endCompaction(true);
    expect(session.settle()).toStrictEqual(["begin_turn", "reply"]);
    session.endReply({ stop: "end" });
    session.settle();
    expect(lastFact(session)).toMatchObject({ outcome: "completed" });
  });

  it("fails with its cause if there is nothing to compact", () => {
    const session = overflowing();
    session.endCompaction(false);
    session.settle();

    expect(lastFact(session)).toMatchObject({ outcome: "failed", cause: tooLong });
  });

  it("fails with its cause if it is too long even then", () => {
    const session = overflowing();
    session.endCompaction(true);
    session.settle();
    session.endReply({ stop: "failed", cause: tooLong });
    session.settle();

    expect(lastFact(session)).toMatchObject({ outcome: "failed", cause: tooLong });
  });

  it.each([
    [100, "begin_turn"],
    [101, "start_compaction"],
  ])("by its tokens, with %i of 100, leads to %s", (tokens, next) => {
    const session = new Driving({ compactAbove: 100 });
    session.send();
    session.settle();
    session.endReply({ stop: "tools", usage: { ...noUsage, inputTokens: tokens } });
    session.perform(session.next());

    expect(session.next().do).toBe(next);
  });

  it.each([
    [100, "reply"],
    [101, "start_compaction"],
  ])("at the end of a run, with %i of 100, leads the next run to %s", (tokens, next) => {
    const session = new Driving({ compactAbove: 100 });
    session.answerWith({ stop: "end", usage: { ...noUsage, inputTokens: tokens } });
    session.send();
    session.perform(session.next());

    expect(session.next().do).toBe(next);
  });

  it("is compacted once before the first request of a run", () => {
    const session = new Driving({ compactAbove: 100 });
    session.answerWith({ stop: "end", usage: { ...noUsage, inputTokens: 101 } });
    session.send();
    session.settle();
    session.endCompaction(true);

    expect(session.settle()).toStrictEqual(["reply"]);
    session.endReply({ stop: "aborted", cause: abortedCause });
    session.settle();
    session.send();
    expect(session.settle()).toStrictEqual(["begin_turn", "reply"]);
  });

  it("stays known as such behind a reply that was cut", () => {
    const session = new Driving({ compactAbove: 100 });
    session.answerWith({ stop: "end", usage: { ...noUsage, inputTokens: 101 } });
    session.send();
    session.settle();
    session.endCompaction(false);
    session.settle();
    session.endReply({ stop: "aborted", cause: abortedCause });
    session.settle();
    session.send();

    expect(session.settle()).toStrictEqual(["begin_turn", "start_compaction", "compact"]);
  });

  it("continues a compaction that a crash interrupted", () => {
    const session = overflowing();
    session.claim();

    expect(session.next()).toMatchObject({ do: "compact", itemId: "item_2_s1" });
  });

  it("is compacted eight times in a run, and no more", () => {
    const session = new Driving({ compactAbove: 100 });
    let compactions = 0;
    for (let turn = 0; turn < 12; turn += 1) {
      const usage = { ...noUsage, inputTokens: 200 };
      session.answerWith({ stop: "tools", usage });
      if (session.compaction === undefined) continue;
      compactions += 1;
      session.endCompaction(true);
    }

    expect(compactions).toBe(8);
  });
});

describe("an answer that does not match its schema", () => {
  it("is corrected by the model twice, and then the run fails", () => {
    const session = new Driving();
    session.send();
    for (const expected of ["correct", "correct", "finish_run"]) {
      session.settle();
      session.endReply({ stop: "end" });
      session.perform(session.next());
      session.output = "unchecked";
      expect(session.next()).toStrictEqual({ do: "check_output" });
      session.output = "invalid";
      expect(session.next().do).toBe(expected);
      session.perform(session.next());
    }

    expect(lastFact(session)).toMatchObject({
      outcome: "failed",
      cause: { code: "invalid_output", message: "no number" },
    });
  });
});

describe("an agent that answers by itself", () => {
  it("runs one turn", () => {
    const session = new Driving({ custom: true });
    session.send();

    expect(session.settle()).toStrictEqual(["begin_turn", "respond"]);
    session.endReply({ stop: "end" });
    expect(session.settle()).toStrictEqual(["finish_run"]);
  });

  it("that is stopped stores no reply that it never wrote", () => {
    const session = new Driving({ custom: true });
    session.send();
    session.perform(session.next());
    session.abort();

    expect(session.settle()).toStrictEqual(["finish_turn", "finish_run"]);
  });
});

describe("calls of several turns", () => {
  it("may have the same ids", () => {
    const session = new Driving();
    session.runUpToCalls(["pay"]);
    session.settle();
    session.endCall(session.call(1).itemId, "ok");
    session.answerWith({ stop: "tools", calls: [{ callId: "c1", tool: "pay", raw: "{}" }] });
    session.endAssessing(allow);

    expect(session.settle()).toStrictEqual(["execute"]);
    expect(session.executed.map(({ itemId }) => itemId)).toStrictEqual([
      "item_1_1_1",
      "item_1_2_1",
    ]);
  });
});
