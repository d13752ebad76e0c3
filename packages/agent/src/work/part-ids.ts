import type { Delta, Item, ItemId, PartId } from "@millrace/core";
import { partIdOf, withPartId } from "../loop/ids.ts";

/**
 * Replaces the part ids of one item by ids that are unique in the session. Models and agents number the
 * parts of each reply from 1. A writer may use its own id or the unique one. Costs one small object for
 * each delta, and nothing for a delta that has the unique id already.
 */
export class PartIds {
  readonly #itemId: ItemId;
  /** The unique id by the writer's id. Each unique id also maps to itself. */
  readonly #ids = new Map<PartId, PartId>();
  #count = 0;
  /** The last lookup: nearly all deltas go to the same part as the delta before. */
  #own: PartId | undefined;
  #unique: PartId | undefined;

  constructor(itemId: ItemId) {
    this.#itemId = itemId;
  }

  /** The unique id for a part id of the writer. */
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
    // A part whose id differs from its delta's is unchanged, so that the fold refuses the commit.
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
