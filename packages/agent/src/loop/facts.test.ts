import { itemId } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { allow, Driving } from "../testing/driving.ts";
import type { Action, RecordAction } from "./action.ts";
import { factsFor } from "./facts.ts";

/** All record actions of a run that performs most of them. */
function recorded(): readonly { readonly action: RecordAction; readonly session: Driving }[] {
  const seen: { readonly action: RecordAction; readonly session: Driving }[] = [];
  const session = new Driving({ limits: { turns: 3 } });
  const step = (): Action => {
    const action = session.next();
    const bodies = isRecord(action) ? factsFor(action, session.factContext()) : undefined;
    if (isRecord(action) && bodies !== undefined) seen.push({ action, session });
    session.perform(action);
    return action;
  };
  const settle = (): void => {
    while (session.next().do !== "wait") step();
  };
  session.send();
  settle();
  session.failAttempt();
  settle();
  session.now += 10_000;
  settle();
  session.endReply({
    stop: "tools",
    calls: [
      { callId: "c1", tool: "pay" },
      { callId: "c2", tool: "gone" },
    ],
  });
  settle();
  session.endAssessing((call) =>
    call.lane === 1
      ? { decision: "ask", hash: call.itemId }
      : { decision: "refuse", status: "failed" },
  );
  settle();
  session.decideOn(1, "deny");
  settle();
  session.endReply({ stop: "end" });
  settle();
  return seen;
}

function isRecord(action: Action): action is RecordAction {
  const works = ["reply", "respond", "assess", "execute", "check_answers", "compact"];
  return ![...works, "check_output", "interrupt", "wait"].includes(action.do);
}

describe("the facts of an action", () => {
  it("are undefined once an earlier attempt has stored them", () => {
    const all = recorded();

    expect(new Set(all.map(({ action }) => action.do))).toStrictEqual(
      new Set(["begin_turn", "schedule_retry", "ask", "settle", "finish_turn", "finish_run"]),
    );
    for (const { action, session } of all) {
      expect(factsFor(action, session.factContext())).toBeUndefined();
    }
  });

  it("are the same for the same state", () => {
    const session = new Driving();
    session.send();
    const action = session.next();
    if (!isRecord(action)) throw new Error("a turn begins with a record");

    const once = factsFor(action, session.factContext());
    expect(once).toStrictEqual(factsFor(action, session.factContext()));
    expect(once?.map(({ type }) => type)).toStrictEqual([
      "run_started",
      "item_committed",
      "turn_started",
    ]);
  });

  it("close every lane up to the highest epoch that was given out", () => {
    const session = new Driving();
    session.runUpToCalls(["pay", "look"], allow);
    session.settle();
    for (const number of [1, 2]) session.endCall(session.call(number).itemId, "ok");
    const { closes } = session.factContext();
    session.perform(session.next());

    expect(session.ledger.facts.at(-1)).toMatchObject({ type: "turn_finished", closes });
    expect(session.ledger.floors()).toStrictEqual([]);
  });

  it("drop reasoning up to the newest item that is no summary", () => {
    const session = new Driving();
    session.send();
    session.settle();
    session.failAttempt();
    const action = session.next();
    if (action.do !== "schedule_retry") throw new Error("a failed attempt is retried");
    const context = session.factContext();
    const { items } = context.state;
    const summary = { id: itemId("s1"), author: "agent", parts: [], stop: "end" } as const;
    const state = { ...context.state, items: items.append(summary) };

    const facts = factsFor({ ...action, dropsReasoning: true }, { ...context, state });
    const through = items.at(-1)?.id;
    expect(facts?.at(-1)).toMatchObject({ type: "reasoning_dropped", through, reason: "refused" });
  });
});
