import { parseJsonText } from "@millrace/core/wire";
import { List } from "@millrace/core/writing";
import type { Item, ItemId, Json } from "@millrace/core";
import type { readSession } from "@millrace/core/reading";
import type { Context } from "../context/context.ts";
import type { Guide } from "../context/guide.ts";
import type { Standing } from "../loop/state.ts";
import type { Journal } from "../work/host.ts";
import { RunRecords } from "../work/run-records.ts";

/** The form of what a checkpoint keeps of the loop. Another one is not read: all facts are read instead. */
const checkpointForm = "loop 6";

type CheckpointRead = NonNullable<Awaited<ReturnType<typeof readSession>>["checkpoint"]>;

/** What a journal keeps in a checkpoint besides the state. */
export interface LoopCheckpoint {
  readonly standing: Standing;
  readonly context: Context;
  readonly runs: RunRecords;
}

interface LoopCheckpointJson {
  readonly form: typeof checkpointForm;
  /** How many calls the standing remembers. A journal that needs more of them reads all facts. */
  readonly remember: number | null;
  readonly standing: Standing;
  /** The items of the context in its order, by id. */
  readonly context: readonly ItemId[];
  readonly summaries: readonly (readonly [ItemId, readonly ItemId[]])[];
  readonly guide: Guide;
  readonly runs: Json;
}

/** The standing, the context and the runs, for a checkpoint. The context's items are stored once. */
export function encodeLoop(
  { standing, context, runs }: Pick<Journal, keyof LoopCheckpoint>,
  remember: number | undefined,
): { readonly needed: readonly Item[]; readonly loop: Json } {
  const items = context.items.toArray();
  const kept: LoopCheckpointJson = {
    form: checkpointForm,
    remember: remember ?? null,
    standing,
    context: items.map(({ id }) => id),
    summaries: [...context.summaries],
    guide: context.guide,
    runs: runs.toJson(),
  };
  // Through text, so that fields without a value are left out.
  return { needed: items, loop: parseJsonText(JSON.stringify(kept)) as Json };
}

/** Fields without a value are not in JSON. */
function guideOf({
  since,
  last,
  refused,
  replied,
  signed,
  written,
  output,
  strictOutput,
  stages,
  ...rest
}: Guide): Guide {
  const whole = stages.map(({ after, ...stage }) => ({ ...stage, after }));
  return {
    ...rest,
    since,
    last,
    refused,
    replied,
    signed,
    written,
    output,
    strictOutput,
    stages: whole,
  };
}

/** Reads what `encodeLoop` made, or nothing if it has another form. */
export function decodeLoop(
  { paged, needed, loop }: CheckpointRead,
  remember: number | undefined,
): LoopCheckpoint | undefined {
  const kept = loop as Partial<LoopCheckpointJson> | null | undefined;
  if (kept?.form !== checkpointForm || kept.remember !== (remember ?? null)) return undefined;
  const { standing, context, summaries, guide, runs } = kept as LoopCheckpointJson;
  const stored = new Map<ItemId, Item>();
  for (const item of [...needed, ...paged.state.items]) stored.set(item.id, item);
  const items = context.flatMap((id) => stored.get(id) ?? []);
  if (items.length !== context.length) return undefined;
  return {
    standing: { ...standing, run: standing.run },
    context: { items: List.of(items), summaries: new Map(summaries), guide: guideOf(guide) },
    runs: RunRecords.fromJson(runs),
  };
}
