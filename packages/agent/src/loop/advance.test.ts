import { packEpoch } from "@millrace/core/ports";
import { schemaVersion } from "@millrace/core/wire";
import { callId, inputId, noUsage, partId, runId, sessionId } from "@millrace/core/writing";
import type { Fact, Item } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { ask, Driving } from "../testing/driving.ts";
import { advance } from "./advance.ts";
import { standingOf } from "./standing-of.ts";
import { outline } from "./outline.ts";
import { emptyRun, emptyStanding } from "./state.ts";
import type { RunStanding, Standing } from "./state.ts";

/** The next fact of the session, with this body. */
function factOf(session: Driving, body: FactBody): Fact {
  const n = session.ledger.facts.length + 1;
  return { ...body, v: schemaVersion, n, sessionId: sessionId("s"), time: session.now };
}

function after(session: Driving, body: FactBody): Standing {
  return advance(session.standing, outline(factOf(session, body)));
}

function runAfter(session: Driving, body: FactBody): RunStanding | undefined {
  return after(session, body).run;
}

/** A session whose reply has two calls. The first waits for an approval. */
function asking(): Driving {
  const session = new Driving();
  session.runUpToCalls(["pay", "look"], ask);
  session.settle();
  return session;
}

const here = { runId: runId("run_1"), turnId: "turn_1_1" as never };
const epoch = packEpoch({ incarnation: 1, generation: 9, attempt: 0 });

describe("a fact", () => {
  it("session_claimed: the incarnation", () => {
    const session = new Driving();

    expect(after(session, { type: "session_claimed", incarnation: 7 }).incarnation).toBe(7);
  });

  it.each(["prompt", "steer", "follow_up"] as const)(
    "input_accepted of a %s: it is queued",
    (kind) => {
      const session = new Driving();
      session.send(kind, { turns: 2 });

      expect(session.standing.queue).toStrictEqual([
        {
          inputId: "input_1",
          kind,
          limits: { turns: 2 },
          held: false,
        },
      ]);
    },
  );

  it("input_accepted of an answer: it is queued", () => {
    const session = new Driving();
    session.input({ kind: "answer", callId: callId("c1"), output: 1 });

    expect(session.standing.queue).toMatchObject([{ inputId: "input_1", kind: "answer" }]);
  });

  it("input_accepted of a stop: only the named or current run is stopping", () => {
    const session = asking();
    const stop = (meant?: string): boolean | undefined =>
      runAfter(session, {
        type: "input_accepted",
        inputId: inputId("input_9"),
        input: { kind: "abort", ...(meant === undefined ? {} : { runId: runId(meant) }) },
      })?.aborting;

    expect(stop()).toBe(true);
    expect(stop("run_1")).toBe(true);
    expect(stop("run_2")).toBe(false);
    expect(new Driving().standing.run).toBeUndefined();
  });

  it("queue_updated: an input that was taken back leaves the queue", () => {
    const session = new Driving();
    session.send();
    const body = {
      type: "queue_updated",
      inputId: inputId("input_1"),
      change: "taken_back",
    } as const;

    expect(after(session, body).queue).toStrictEqual([]);
  });

  it("run_started: a run with the limits of the input that began it", () => {
    const session = new Driving();
    session.send("prompt", { turns: 3 });
    const run = runAfter(session, { type: "run_started", runId: runId("run_1") });

    const limits = { turns: 3 };
    expect(run).toStrictEqual(emptyRun({ runId: runId("run_1"), startedAt: session.now, limits }));
  });

  it("run_finished: no run; after a stop other queued inputs are held", () => {
    const session = asking();
    session.send("steer");
    session.send("prompt");
    const finished = { type: "run_finished", runId: runId("run_1"), closes: epoch } as const;
    const held = (outcome: "aborted" | "completed"): readonly boolean[] =>
      after(session, { ...finished, outcome }).queue.map((queued) => queued.held);

    expect(after(session, { ...finished, outcome: "completed" }).run).toBeUndefined();
    expect(held("aborted")).toStrictEqual([true, false]);
    expect(held("completed")).toStrictEqual([false, false]);
  });

  it("turn_started and turn_finished: the current turn, and the number of turns", () => {
    const session = asking();
    const next = { ...here, turnId: "turn_1_2" as never };

    expect(runAfter(session, { type: "turn_started", ...next })).toMatchObject({
      turns: 2,
      turn: {
        turnId: "turn_1_2",
        attempts: 0,
        reply: undefined,
        showsStop: false,
        stop: undefined,
      },
    });
    const finished = { type: "turn_finished", ...here, stop: "tools", closes: epoch } as const;
    expect(runAfter(session, finished)?.turn?.stop).toBe("tools");
  });

  it("item_committed of an input: it leaves the queue", () => {
    const session = new Driving();
    session.send();
    session.perform(session.next());

    expect(session.standing.queue).toStrictEqual([]);
  });

  it("item_committed of a reply: its calls, each with its lane and the reserved id of its answer", () => {
    const session = asking();

    expect(session.turn().reply).toMatchObject({
      itemId: "item_1_1_0",
      stop: "tools",
      calls: [
        { callId: "c1", tool: "pay", itemId: "item_1_1_1", lane: 1, settled: false },
        { callId: "c2", tool: "look", itemId: "item_1_1_2", lane: 2, settled: false },
      ],
    });
  });

  it("item_committed of a reply that answers its own call: that call is settled", () => {
    const session = new Driving();
    session.send();
    session.settle();
    const head = { callId: callId("h1"), tool: "search" };
    const item: Item = {
      id: "item_1_1_0" as never,
      author: "model",
      parts: [
        { kind: "tool_call", id: partId("p1"), ...head, raw: "{}", input: {} },
        { kind: "tool_result", id: partId("p2"), ...head, status: "ok", text: "found" },
      ],
      stop: "end",
    };

    const run = runAfter(session, { type: "item_committed", item, ...here });
    expect(run?.turn?.reply?.calls).toMatchObject([{ callId: "h1", settled: true }]);
  });

  it("item_committed of a reply: how long the context is", () => {
    const session = new Driving();
    session.send();
    session.settle();
    const usage = { ...noUsage, inputTokens: 70, outputTokens: 7, cachedTokens: 60 };
    session.endReply({ stop: "tools", usage });

    expect(session.run()).toMatchObject({ contextTokens: 77, used: { tokens: 77 } });
  });

  it("item_committed of a result: that call is settled, and no other", () => {
    const session = asking();
    session.decideOn(2, "allow");
    session.settle();
    session.endCall(session.call(2).itemId, "ok");

    expect(session.turn().reply?.calls.map(({ settled }) => settled)).toStrictEqual([false, true]);
  });

  it("item_committed of the loop with the author user: counted as a correction", () => {
    const session = asking();
    const item: Item = { id: "item_1_c1" as never, author: "user", parts: [], stop: "end" };

    expect(runAfter(session, { type: "item_committed", item, ...here })?.corrections).toBe(1);
  });

  it("approval_requested: the question, its hash and its time", () => {
    expect(asking().call(1)).toMatchObject({
      asked: 1,
      approval: {
        approvalId: "approval_1_1_1_1",
        hash: "item_1_1_1",
        askedAt: 1_000,
        answer: undefined,
      },
    });
  });

  it("approval_resolved: the answer to that question, once", () => {
    const session = asking();
    const resolved = { type: "approval_resolved", callId: callId("c1") } as const;
    const approvalId = session.call(1).approval?.approvalId as never;
    const yes = factOf(session, { ...resolved, approvalId, decision: "allow" });
    const no = factOf(session, { ...resolved, approvalId, decision: "deny" });
    const other = factOf(session, { ...resolved, approvalId: "x" as never, decision: "deny" });
    const answers = [yes, no, other]
      .map(outline)
      .reduce((standing, fact) => advance(standing, fact), session.standing)
      .run?.turn?.reply?.calls.map(({ approval }) => approval?.answer?.decision);

    expect(answers).toStrictEqual(["allow", undefined]);
  });

  it("tool_execution_started: the epoch of the latest intent", () => {
    const session = asking();
    session.decideOn(1, "allow");
    session.settle();

    expect(session.call(1).started).toBeGreaterThan(0);
    expect(session.call(2).started).toBeUndefined();
  });

  it("tool_execution_finished and what is not known here change nothing", () => {
    const session = asking();
    const finished = {
      type: "tool_execution_finished",
      ...here,
      callId: callId("c1"),
      tool: "pay",
    };

    expect(after(session, { ...finished, status: "ok" } as FactBody)).toBe(session.standing);
    expect(after(session, { type: "opaque", original: {} })).toBe(session.standing);
  });

  it("compaction_started and compaction_finished: whether one runs, and whether it helped", () => {
    const session = asking();
    const started = outline(factOf(session, { type: "compaction_started", ...here }));
    const finished = { type: "compaction_finished", ...here } as const;
    const summary = { itemId: "s" as never, first: "a" as never, last: "b" as never };
    const on = advance(session.standing, started);

    expect(on.run).toMatchObject({ compacting: true, compactions: 1, compacted: "no" });
    expect(advance(on, outline(factOf(session, finished))).run).toMatchObject({
      compacting: false,
      compacted: "in_vain",
    });
    const worked = outline(factOf(session, { ...finished, summary }));
    expect(advance(on, worked).run?.compacted).toBe("worked");
  });

  it("usage_reported: the usage of the run, and the number of attempts before the reply", () => {
    const session = new Driving();
    session.send();
    session.settle();
    session.retry({ ...noUsage, inputTokens: 5, cost: 2 });
    session.retry({ ...noUsage, inputTokens: 5 });

    expect(session.turn().attempts).toBe(2);
    expect(session.run().used).toMatchObject({ tokens: 10, cost: 2 });
    session.endReply({ stop: "tools", usage: { ...noUsage, inputTokens: 1 } });
    expect(session.turn().attempts).toBe(2);
  });

  it("of a run while there is none changes nothing", () => {
    const session = new Driving();

    expect(after(session, { type: "compaction_started", ...here })).toBe(session.standing);
  });
});

describe("where a session stands", () => {
  it("is the same read at once as fact by fact", () => {
    const session = asking();

    expect(standingOf(session.ledger.facts)).toStrictEqual(session.standing);
    expect(standingOf([])).toBe(emptyStanding);
  });

  it("after an operator's reset is the earlier one, with the inputs stored since", () => {
    const session = new Driving();
    session.send();
    session.settle();
    const to = session.ledger.facts.length;
    const before = session.standing;
    session.endReply({ stop: "end" });
    session.settle();
    session.send();
    const claimed = session.ledger.claim({ from: 1, to });
    if (claimed.outcome !== "claimed") throw new Error("not claimed");

    const { run, queue, incarnation } = standingOf(session.ledger.facts);
    expect(run).toStrictEqual(before.run);
    expect(queue.map((queued) => queued.inputId)).toStrictEqual(["input_2"]);
    expect(incarnation).toBe(2);
  });
});
