import type { Delta, Item, PartId } from "@millrace/core";
import type { ReplaceItem, Update } from "@millrace/core/writing";
import type { Reply } from "@millrace/core/ports";
import { Fenced } from "../host.ts";
import { causeOf } from "./failure.ts";
import { OwnItem, stopped } from "./own-item.ts";
import type { End } from "./own-item.ts";
import type { Places } from "./places.ts";

/**
 * Writes the items of an async iterable: deltas, and the ends of items between them. What is open at
 * the end is ended with its true reason: the stream's own result if it has one, as a model's has,
 * and else that the iterable came to its end. Gives back the last item.
 */
export async function writeUpdates(places: Places, source: AsyncIterable<Update>): Promise<Item> {
  const items = new Items(places);
  try {
    for await (const update of source) {
      await items.take(update);
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

/** The items of one iterable, one after the other. */
class Items {
  readonly #places: Places;
  #open: OwnItem | undefined;
  /** The parts of the item that was just replaced, until the next item begins. */
  #replaced: ReadonlySet<PartId> | undefined;
  #last: Item | undefined;

  constructor(places: Places) {
    this.#places = places;
  }

  async take(update: Update): Promise<void> {
    if (this.#isForReplaced(update)) {
      if (update.op === "commit_item") this.#replaced = undefined;
      return;
    }
    this.#replaced = undefined;
    if (update.op === "commit_item") {
      const { op: _, ...end } = update;
      await this.#commit(end);
    } else if (update.op === "replace_item") await this.#replace(update);
    else await this.#write(update);
  }

  /** Ends what is open. If there is nothing at all, the end itself becomes an item without parts. */
  async finish(end: End): Promise<Item> {
    if (this.#open !== undefined || this.#last === undefined) await this.#commit(end);
    return this.#last as Item; // set by the line above, if not before
  }

  /** A replaced item is complete, and what still comes for it is ignored. A text names it by itself. */
  #isForReplaced(update: Update): boolean {
    const ids = this.#replaced;
    if (ids === undefined) return false;
    if (update.op === "commit_item") return true;
    if (update.op !== "replace_item") return ids.has(update.partId);
    const { content } = update;
    return typeof content === "string" || content.some(({ id }) => ids.has(id));
  }

  async #write(delta: Delta): Promise<void> {
    const item = (this.#open ??= await this.#begin());
    const failure = item.write(delta);
    if (failure !== undefined) throw failure;
  }

  async #commit(end: End): Promise<void> {
    const item = (this.#open ??= await this.#begin());
    this.#open = undefined;
    this.#last = await item.commit(end);
    if (item.failure !== undefined) throw item.failure;
  }

  async #replace({ content, metadata, usage, model }: ReplaceItem): Promise<void> {
    const item = (this.#open ??= await this.#begin());
    this.#last = await item.replace({ content, metadata }, { usage, model });
    this.#open = undefined;
    this.#replaced = item.partIds;
  }

  async #begin(): Promise<OwnItem> {
    const item = await OwnItem.open(this.#places, "model");
    if (item.failure === undefined) return item;
    this.#last = await item.commit(stopped); // stored before a crash: comes back as it is
    throw item.failure;
  }
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
