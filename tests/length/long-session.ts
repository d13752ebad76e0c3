import { inputId, itemId, partId, runIdOf, turnId } from "@millrace/core/writing";
import { packEpoch } from "@millrace/core/ports";
import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import type { Item, ItemId } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";

/** The characters of each item: so long that the items of 1,000 facts exceed a joiner's budget. */
const itemLength = 1_600;
/** Runs after each of which everything but the latest items is summarised. */
const compactEvery = 50;
const runsAfterCompaction = 20;
const bodiesAtOnce = 2_000;

/**
 * A session with this many facts or a few more, in complete runs, whose context is compacted to at most 200
 * items. Its facts go through the store's own calls, many at once. Nothing of it is a checkpoint yet.
 */
export async function longSession(
  store: SessionStore,
  name: string,
  facts: number,
): Promise<SessionRecord> {
  const record = await store.create({ sessionId: name });
  const claim = await store.claim(record.uid, { from: 0, head: 0 });
  if (claim.outcome !== "claimed") throw new Error("a new session was not claimed");
  const { incarnation } = claim;
  let head = claim.facts.length;
  const waiting: FactBody[] = [];
  const flush = async (): Promise<void> => {
    const bodies = waiting.splice(0);
    const answer = await store.append(record.uid, { incarnation, head, bodies });
    if (answer.outcome !== "appended") throw new Error(`not appended: ${answer.outcome}`);
    head += bodies.length;
  };
  const ids: ItemId[] = [];
  // Sessions of every length end as many runs after a compaction, so that their contexts are alike.
  const ends = (run: number): boolean =>
    head + waiting.length >= facts && run % compactEvery === runsAfterCompaction;
  for (let run = 0; !ends(run); run += 1) {
    waiting.push(...runOf(run, incarnation, ids));
    if (waiting.length >= bodiesAtOnce) await flush();
  }
  if (waiting.length > 0) await flush();
  return record;
}

function runOf(number: number, incarnation: number, ids: ItemId[]): readonly FactBody[] {
  const id = inputId(`input_seed${number}`);
  const runId = runIdOf(id);
  const turn = turnId(`turn_seed${number}`);
  const epoch = packEpoch({ incarnation, generation: number + 1, attempt: 0 });
  const item = (author: Item["author"], kind: string): Item => {
    const made = itemId(`item_${kind}${number}`);
    ids.push(made);
    const text = `${number} ${"word ".repeat(itemLength / 5)}`;
    return { id: made, author, parts: [{ kind: "text", id: partId("p1"), text }], stop: "end" };
  };
  const prompt = item("user", "prompt");
  const place = { runId, turnId: turn };
  const usage = { inputTokens: 10, outputTokens: 10, cachedTokens: 0 };
  return [
    { type: "input_accepted", inputId: id, input: { kind: "prompt", parts: prompt.parts } },
    { type: "run_started", runId },
    { type: "item_committed", item: prompt, runId, inputId: id },
    ...(number % compactEvery === compactEvery - 1 ? compactionOf(runId, ids, item) : []),
    { type: "turn_started", ...place },
    { type: "item_committed", item: item("model", "reply"), ...place },
    { type: "usage_reported", ...place, epoch, usage },
    { type: "turn_finished", ...place, stop: "end", closes: epoch },
    { type: "run_finished", runId, closes: epoch, outcome: "completed" },
  ];
}

/** Covers everything from the first item on but the latest nine. */
function compactionOf(
  runId: ReturnType<typeof runIdOf>,
  ids: ItemId[],
  item: (author: Item["author"], kind: string) => Item,
): readonly FactBody[] {
  const first = ids[0];
  const last = ids.at(-10);
  if (first === undefined || last === undefined) return [];
  const summary = item("agent", "summary");
  return [
    { type: "compaction_started", runId },
    { type: "item_committed", item: summary, runId },
    { type: "compaction_finished", runId, summary: { itemId: summary.id, first, last } },
  ];
}
