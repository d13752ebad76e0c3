import type { Delta, Item, PartId } from "@millrace/core";
import { partId } from "@millrace/core/writing";
import type { ReplaceItem, Update } from "@millrace/core/writing";
import type { Reply } from "@millrace/core/ports";
import type { Yielded } from "../../definition/settings.ts";
import { Fenced } from "../host.ts";
import { causeOf } from "./failure.ts";
import { OwnItem, stopped } from "./own-item.ts";
import type { End } from "./own-item.ts";
import type { ItemSlots } from "./item-slots.ts";

/**
 * Writes the items of an async iterable of deltas and item ends. An item that is open when the iterable
 * ends gets the stream's own result as its end, if the stream has one as a model's has, and else `end`.
 * Returns the last item. If the iterable throws, the open item is stored as failed and the error is
 * thrown again.
 */
export async function writeUpdates(
  slots: ItemSlots,
  source: AsyncIterable<Yielded>,
): Promise<Item> {
  const items = new Items(slots);
  try {
    for await (const update of source) {
      await items.take(checked(update));
      if (slots.at.signal.reason instanceof Fenced) break;
    }
    return await items.finish(await endOf(slots, source));
  } catch (error) {
    if (error instanceof Fenced) throw error;
    await items.finish(
      slots.at.signal.aborted ? stopped : { stop: "failed", cause: causeOf(error) },
    );
    throw error;
  }
}

/** The same update. Throws `invalid_id` for a part id that is not one. */
function checked(update: Yielded): Update {
  if ("partId" in update) partId(update.partId);
  return update as Update; // the id is admitted above
}

/** Splits the updates of one iterable into items. One item is open at a time. */
class Items {
  readonly #slots: ItemSlots;
  #open: OwnItem | undefined;
  /** The parts of the item that was just replaced, until the next item begins. */
  #replaced: ReadonlySet<PartId> | undefined;
  #last: Item | undefined;

  constructor(slots: ItemSlots) {
    this.#slots = slots;
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

  /** Commits the open item. If the iterable had no update at all, stores an item without parts. */
  async finish(end: End): Promise<Item> {
    if (this.#open !== undefined || this.#last === undefined) await this.#commit(end);
    return this.#last as Item; // `#commit` sets it
  }

  /** True for a late update of a replaced item. It is ignored. A plain text names no part, so it counts as one. */
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
    const item = await OwnItem.open(this.#slots, "model");
    if (item.failure === undefined) return item;
    this.#last = await item.commit(stopped); // stored before a crash, so returned unchanged
    throw item.failure;
  }
}

/** The end of a model's stream is its result. Any other iterable ends as `end`, or as stopped. */
async function endOf({ at }: ItemSlots, source: AsyncIterable<Yielded>): Promise<End> {
  if (hasResult(source)) {
    const { parts: _, ...end } = await source.result;
    return end;
  }
  return at.signal.aborted ? stopped : { stop: "end" };
}

function hasResult(
  source: AsyncIterable<Yielded>,
): source is AsyncIterable<Yielded> & { readonly result: Promise<Reply> } {
  return "result" in source && source.result instanceof Promise;
}
