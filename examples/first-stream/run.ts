import { packEpoch } from "@millrace/core/ports";
import type { EventLog, SessionRecord, SessionStore } from "@millrace/core/ports";
import { commitDraft, createLaneWriter, itemId, runId, turnId } from "@millrace/core/writing";
import type { Fact, Item, Model } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { systemClock } from "@millrace/core/memory";

/** One run of one turn, by hand: claim, open, stream, commit, finish. The agent package does this for you. */
export async function runOnce(
  store: SessionStore,
  log: EventLog,
  session: SessionRecord,
  model: Model,
): Promise<Item> {
  const { uid, sessionId, incarnation: from } = session;
  const ids = { runId: runId("run_1"), turnId: turnId("turn_1"), itemId: itemId("item_1") };
  const { runId: run, turnId: turn } = ids;
  /** Announces facts that are stored. */
  const announce = async (facts: readonly Fact[]): Promise<void> => {
    for (const fact of facts) await log.announce(uid, fact);
  };
  const decide = async (...bodies: readonly FactBody[]): Promise<void> => {
    const decided = await store.append(uid, { incarnation, head: await store.head(uid), bodies });
    if (decided.outcome !== "appended")
      throw new Error(`the session is not ours: ${decided.outcome}`);
    await announce(decided.facts);
  };

  const claimed = await store.claim(uid, { from });
  if (claimed.outcome !== "claimed") throw new Error("another driver was first");
  const { incarnation } = claimed;
  await announce(claimed.facts);
  await decide(
    { type: "run_started", runId: run },
    { type: "turn_started", runId: run, turnId: turn },
  );

  const epoch = packEpoch({ incarnation, generation: 1, attempt: 1 });
  const opened = await store.open(uid, { lane: 0, epoch, itemId: ids.itemId });
  if (opened.outcome !== "opened") throw new Error(`the lane is not ours: ${opened.outcome}`);
  const { head } = opened;
  const writer = createLaneWriter({
    log,
    clock: systemClock,
    uid,
    sessionId,
    ...ids,
    lane: 0,
    epoch,
    head,
    author: "model",
    model: model.id,
    windowMs: 5,
  });
  const reply = model.stream({ transcript: [], signal: writer.fenced });
  for await (const delta of reply) writer.write(delta);
  await writer.flush();

  const { parts: _, ...ending } = await reply.result;
  const item = commitDraft(
    writer.draft(),
    { id: ids.itemId, author: "model", model: model.id },
    ending,
  );
  const committed = await store.commit(uid, {
    fact: { type: "item_committed", item, lane: 0, epoch, runId: run, turnId: turn },
  });
  if (committed.outcome !== "committed")
    throw new Error(`the item is not ours: ${committed.outcome}`);
  await announce(committed.facts);
  await writer.close();

  await decide({ type: "turn_finished", runId: run, turnId: turn, stop: item.stop, closes: epoch });
  await decide({ type: "run_finished", runId: run, outcome: "completed", closes: epoch });
  return item;
}
