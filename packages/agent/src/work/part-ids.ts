import type { Delta, Item, ItemId, PartId } from "@millrace/core";
import { partIdOf, withPartId } from "../loop/ids.ts";

/**
 * Gives the parts of one item ids that no other item of the session has, whatever ids their writer
 * uses: models and agents number the parts of each reply anew. A writer may use its own id or the new
 * one. Costs one small object a delta; a delta that has its new id already is handed on as it is.
 */
export class PartIds {
  readonly #itemId: ItemId;
  /** From both the writer's ids and the new ones. */
  readonly #ids = new Map<PartId, PartId>();
  #count = 0;
  /** The last id that was looked up: nearly all deltas go to the same part as the one before. */
  #own: PartId | undefined;
  #unique: PartId | undefined;

  constructor(itemId: ItemId) {
    this.#itemId = itemId;
  }

  /** The new id for one of the writer's. */
  of(own: PartId): PartId {
    if (own === this.#own && this.#unique !== undefined) return this.#unique;
    const unique = this.#ids.get(own) ?? this.#add(own);
    this.#own = own;
    this.#unique = unique;
    return unique;
  }

  ofDelta(delta: Delta): Delta {
    const partId = this.of(delta.partId);
    if (partId === delta.partId) return delta;
    if (delta.op === "append_text") return { op: "append_text", partId, chunk: delta.chunk };
    if (delta.op !== "commit_part") return { ...delta, partId };
    // A part with another id than its delta's stays as it is, and is refused as a broken commit.
    const { part } = delta;
    return { ...delta, partId, part: part.id === delta.partId ? withPartId(part, partId) : part };
  }

  ofItem(item: Item): Item {
    if (item.parts.every(({ id }) => this.of(id) === id)) return item;
    return { ...item, parts: item.parts.map((part) => withPartId(part, this.of(part.id))) };
  }

  #add(own: PartId): PartId {
    let unique: PartId;
    do {
      this.#count += 1;
      unique = partIdOf(this.#itemId, this.#count);
    } while (this.#ids.has(unique));
    this.#ids.set(own, unique);
    this.#ids.set(unique, unique);
    return unique;
  }
}
