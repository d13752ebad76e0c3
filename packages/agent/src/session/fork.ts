import { MillraceError } from "@millrace/core";
import { inputId, sessionId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { PeopleFact, SessionRecord } from "@millrace/core/ports";
import { standingOf } from "../loop/advance.ts";
import type { SessionHost } from "./session-host.ts";

/**
 * Makes a new session with the facts of another one up to an item. In the new session, queued inputs are
 * taken back and a run in progress is stopped, so that nothing runs until a prompt is sent. Throws
 * `refused` if the item does not exist.
 */
export async function forkAt(
  host: SessionHost,
  itemId: string,
  id: string | undefined,
): Promise<SessionRecord> {
  const { store, record, makeId } = host.options;
  const facts = await store.read(record.uid);
  const n = lastFactOf(facts, itemId);
  const name = sessionId(id ?? makeId("session"));
  const { queue, run } = standingOf(facts.slice(0, n));
  const added: PeopleFact[] = queue.map(({ inputId: waiting }) => ({
    type: "queue_updated",
    inputId: waiting,
    change: "taken_back",
  }));
  if (run !== undefined) {
    const input = { kind: "abort", runId: run.runId, reason: "forked" } as const;
    added.push({ type: "input_accepted", inputId: inputId(makeId("input")), input });
  }
  return await store.fork(record.uid, { sessionId: name, n, added });
}

/** The number of the last fact that belongs to the item: its settlement, or the end of its turn or run. */
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
  // A claim after a crash and facts of people may come between those.
  const between: readonly Fact["type"][] = [
    "session_claimed",
    "session_released",
    "input_accepted",
    "queue_updated",
    "approval_resolved",
  ];
  let end = at + 1;
  for (const { type, n } of facts.slice(at + 1)) {
    if (belongs.includes(type)) end = n;
    else if (!between.includes(type)) break;
  }
  return end;
}
