import { commitDraft } from "@millrace/core/writing";
import { abortedCause } from "@millrace/core/ports";
import type { Item, Usage } from "@millrace/core";
import type { Reply } from "@millrace/core/ports";
import type { Ending, Update } from "@millrace/core/writing";
import { Fenced } from "../host.ts";
import { isLane, openItemLane } from "../item-lane.ts";
import type { ItemLane } from "../item-lane.ts";
import { causeOf } from "./places.ts";
import type { Places } from "./places.ts";

/** How an item ends, with what its writer says of it. */
type End = Ending & { readonly usage?: Usage | undefined; readonly model?: string | undefined };

/**
 * Writes the items of an async iterable: deltas, and `commit_item` between items. What is left open
 * at the end is ended with its true reason: the stream's own result if it has one, as a model's has.
 * Gives back the last item.
 */
export async function writeUpdates(places: Places, source: AsyncIterable<Update>): Promise<Item> {
  const items = new Items(places);
  try {
    for await (const update of source) {
      if (update.op === "commit_item") {
        const { op: _, ...end } = update;
        await items.commit(end);
      } else await items.write(update);
      if (places.at.signal.reason instanceof Fenced) break;
    }
    return await items.finish(await endOf(places, source));
  } catch (error) {
    if (error instanceof Fenced) throw error;
    await items.finish(
      places.at.signal.aborted ? stopped : { stop: "failed", cause: causeOf(error) },
    );
    throw error;
  }
}

/** An item that has been begun: a lane to write, or what is stored already. */
interface Begun {
  readonly itemId: Item["id"];
  readonly lane: number;
  readonly opened: ItemLane | Item;
}

class Items {
  readonly #places: Places;
  #open: Begun | undefined;
  #last: Item | undefined;

  constructor(places: Places) {
    this.#places = places;
  }

  async write(delta: Exclude<Update, { readonly op: "commit_item" }>): Promise<void> {
    const begun = (this.#open ??= await this.#begin());
    // An item that is stored already is not written again: this one was lost on its way back.
    if (isLane(begun.opened)) begun.opened.write(delta);
  }

  async commit(end: End): Promise<void> {
    const { itemId, lane, opened } = (this.#open ??= await this.#begin());
    this.#open = undefined;
    const item = isLane(opened) ? await store(this.#places, itemId, opened, end) : opened;
    this.#last = item;
    this.#places.done(lane, item);
  }

  /** Ends what is open. If there is nothing at all, the end itself becomes an item without parts. */
  async finish(end: End): Promise<Item> {
    if (this.#open !== undefined || this.#last === undefined) await this.commit(end);
    return this.#last as Item; // set by the line above, if not before
  }

  async #begin(): Promise<Begun> {
    const { host, epochs, at } = this.#places;
    const { itemId, lane } = this.#places.take();
    const { runId, turnId } = at;
    const place = { runId, turnId, itemId, lane, epoch: epochs.next(), author: "model" } as const;
    return { itemId, lane, opened: await openItemLane(host, place) };
  }
}

async function store(places: Places, id: Item["id"], lane: ItemLane, end: End): Promise<Item> {
  const { signal, runId, turnId } = places.at;
  if (signal.reason instanceof Fenced) {
    await lane.drop();
    throw signal.reason;
  }
  const { usage, model, ...ending } = end;
  const item = commitDraft(lane.draft(), { id, author: "model", usage, model }, ending);
  if (usage === undefined) return await lane.commit(item);
  const report = { type: "usage_reported", runId, turnId, epoch: lane.epoch, usage } as const;
  const stored = await lane.commit(item, { settlement: [report] });
  await places.host.allowance?.spend(usage);
  return stored;
}

/** The end that a model's stream came to; of any other iterable that ended, that it ended. */
async function endOf({ at }: Places, source: AsyncIterable<Update>): Promise<End> {
  if (hasResult(source)) {
    const { parts: _, ...end } = await source.result;
    return end;
  }
  return at.signal.aborted ? stopped : { stop: "end" };
}

function hasResult(
  source: AsyncIterable<Update>,
): source is AsyncIterable<Update> & { readonly result: Promise<Reply> } {
  return "result" in source && source.result instanceof Promise;
}

const stopped: End = { stop: "aborted", cause: abortedCause };
