import { inputId, MillraceError, sessionId } from "@millrace/core";
import type { Fact, PeopleFact, SessionRecord, SessionUid } from "@millrace/core";
import { standingOf } from "../loop/advance.ts";
import type { SessionHost } from "./host.ts";

/**
 * A session of its own that begins with another's facts up to an item. Inputs that still waited there
 * are taken back in it, and a run that was on is stopped, so that the branch does nothing by itself.
 */
export async function forkAt(
  host: SessionHost,
  itemId: string,
  id: string | undefined,
): Promise<SessionRecord> {
  const { store, record, makeId } = host.options;
  const { facts } = host.journal;
  const n = lastFactOf(facts, itemId);
  const name = sessionId(id ?? makeId("session"));
  const forked = await store.fork(record.uid, { sessionId: name, n });
  const { queue, run } = standingOf(facts.slice(0, n));
  const say = (key: string, body: PeopleFact): Promise<unknown> =>
    sayTo(host, forked.uid, key, body);
  for (const { inputId: waiting } of queue) {
    await say(`take_back_${waiting}`, {
      type: "queue_updated",
      inputId: waiting,
      change: "taken_back",
    });
  }
  if (run !== undefined) {
    const stop = inputId(makeId("input"));
    const input = { kind: "abort", runId: run.runId, reason: "forked" } as const;
    await say(stop, { type: "input_accepted", inputId: stop, input });
  }
  return (await store.find(name)) ?? forked;
}

async function sayTo(
  { options }: SessionHost,
  uid: SessionUid,
  key: string,
  body: PeopleFact,
): Promise<void> {
  const { store, log } = options;
  const answer = await store.accept(uid, key, body);
  if (answer.outcome !== "accepted") return;
  for (const fact of answer.facts) await log.announce(uid, fact).catch(() => undefined);
}

/** The facts that belong to an item come right behind it: its settlement, the ends of turn and run. */
function lastFactOf(facts: readonly Fact[], itemId: string): number {
  const at = facts.findLastIndex(
    (fact) =>
      (fact.type === "item_committed" || fact.type === "item_replaced") && fact.item.id === itemId,
  );
  if (at < 0) throw new MillraceError("refused", `no item ${itemId} is in this session`);
  const belongs: readonly Fact["type"][] = [
    "usage_reported",
    "tool_execution_finished",
    "turn_finished",
    "run_finished",
  ];
  let end = at + 1;
  while (belongs.includes(facts[end]?.type ?? "opaque")) end += 1;
  return end;
}
