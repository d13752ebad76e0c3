import { abortedCause } from "@millrace/core/model";
import { commitDraft, commitOf } from "@millrace/core/writing";
import type { Author, Delta, Item, PartId, Usage } from "@millrace/core";
import type { BeginPart, Ending } from "@millrace/core/writing";
import { Fenced } from "../host.ts";
import { isLane, openItemLane } from "../item-lane.ts";
import type { ItemLane } from "../item-lane.ts";
import { AgentFailure, cutCall, illegalUpdate, storedFailure } from "./failure.ts";
import type { ItemSlots } from "./item-slots.ts";
import { firstPart, replaced } from "./replacement.ts";
import type { Replacement } from "./replacement.ts";

/** How an item ends, with its usage and model if the writer knows them. */
export type End = Ending & Provenance;

export interface Provenance {
  readonly usage?: Usage | undefined;
  readonly model?: string | undefined;
}

/** The end of an item that was stopped. */
export const stopped: Ending = { stop: "aborted", cause: abortedCause };

/**
 * One item that an agent writes by itself. Holds the open lane, or the item if it was stored before a
 * crash. A stored item ignores all writes, and `commit` and `replace` return it unchanged.
 */
export class OwnItem {
  readonly #slots: ItemSlots;
  readonly #author: Author;
  readonly #itemId: Item["id"];
  readonly #laneNumber: number;
  readonly #opened: ItemLane | Item;
  readonly #partIds = new Set<PartId>();
  /** The first of them that is a text. */
  #text: PartId | undefined;
  #failure: AgentFailure | undefined;

  private constructor(
    slots: ItemSlots,
    author: Author,
    { itemId, lane, opened }: ReturnType<ItemSlots["take"]> & { readonly opened: ItemLane | Item },
  ) {
    this.#slots = slots;
    this.#author = author;
    this.#itemId = itemId;
    this.#laneNumber = lane;
    this.#opened = opened;
    this.#failure = isLane(opened) ? undefined : storedFailure(opened);
  }

  static async open(slots: ItemSlots, author: Author): Promise<OwnItem> {
    const { host, epochs, at } = slots;
    const { itemId, lane } = slots.take();
    const { runId, turnId } = at;
    const place = { runId, turnId, itemId, lane, epoch: epochs.next(), author };
    return new OwnItem(slots, author, { itemId, lane, opened: await openItemLane(host, place) });
  }

  get isStored(): boolean {
    return !isLane(this.#opened);
  }

  /** The first failure of the agent's code in this item, also one that was stored before a crash. */
  get failure(): AgentFailure | undefined {
    return this.#failure;
  }

  /**
   * The writer's ids of all parts that the item has had. Collected from the updates alone, so they are
   * the same when the writer repeats a stored item after a crash.
   */
  get partIds(): ReadonlySet<PartId> {
    return this.#partIds;
  }

  /**
   * Writes a delta, after a `begin_part` if the writer left that out. An illegal delta is not written:
   * it becomes the item's failure and is returned.
   */
  write(delta: Delta): AgentFailure | undefined {
    const { op, partId } = delta;
    const isNew = !this.#partIds.has(partId);
    this.#partIds.add(partId);
    if (isNew && beginsText(delta)) this.#text ??= partId;
    if (!isLane(this.#opened)) return undefined;
    const begin = isNew ? impliedBegin(delta) : undefined;
    const fault = (begin && this.#opened.write(begin)) ?? this.#opened.write(delta);
    return fault && (this.#failure ??= illegalUpdate(op, { ...fault, partId }));
  }

  /** Stores the content written so far. After a failure the item is stored as failed, whatever `End` is. */
  async commit({ usage, model, ...ending }: End): Promise<Item> {
    if (!isLane(this.#opened)) return this.#done(this.#opened);
    const lane = this.#opened;
    if (ending.cause === undefined) this.#commitParts(lane);
    const end = this.#failure ? ({ stop: "failed", cause: this.#failure.cause } as const) : ending;
    const head = { id: this.#itemId, author: this.#author, usage, model };
    return await this.#store(lane, commitDraft(lane.draft(), head, end), "item_committed");
  }

  /**
   * Stores other content instead of the streamed one, and clears an earlier failure. Throws and stores
   * nothing if the new content is illegal.
   */
  async replace(full: Replacement, { usage, model }: Provenance = {}): Promise<Item> {
    const text = this.#text ?? firstPart;
    const ids = typeof full.content === "string" ? [text] : full.content.map(({ id }) => id);
    for (const id of ids) this.#partIds.add(id);
    if (!isLane(this.#opened)) return this.#done(this.#opened);
    const lane = this.#opened;
    const content = replaced(lane.draft(), full, text);
    if (content instanceof AgentFailure) throw (this.#failure ??= content);
    this.#failure = undefined;
    const item: Item = {
      id: this.#itemId,
      author: this.#author,
      ...content,
      ...(usage === undefined ? {} : { usage }),
      ...(model === undefined ? {} : { model }),
      ...(this.#slots.at.signal.aborted ? stopped : { stop: "end" }),
    };
    return await this.#store(lane, item, "item_replaced");
  }

  /** Commits the parts that are still open. A call with incomplete arguments becomes the item's failure. */
  #commitParts(lane: ItemLane): void {
    for (const part of lane.draft().parts) {
      if (part.state === "committed") continue;
      const commit = commitOf(lane.draft(), part.id);
      if (commit?.op !== "commit_part") continue;
      const { part: whole } = commit;
      if (whole.kind === "tool_call" && whole.fault !== undefined)
        this.#failure ??= cutCall({ ...part, id: this.#ownId(lane, part.id) }, whole.fault.code);
      else lane.write(commit); // never at fault: it is what the lane's own draft holds
    }
  }

  /** The writer's own id of a part, for messages: its author does not know the unique one. */
  #ownId(lane: ItemLane, id: PartId): PartId {
    return [...this.#partIds].find((own) => lane.partId(own) === id) ?? id;
  }

  async #store(
    lane: ItemLane,
    item: Item,
    type: "item_committed" | "item_replaced",
  ): Promise<Item> {
    const { host, at } = this.#slots;
    const { signal, runId, turnId } = at;
    if (signal.reason instanceof Fenced) {
      await lane.drop();
      throw signal.reason;
    }
    const { usage } = item;
    if (usage === undefined) return this.#done(await lane.commit(item, { type }));
    const report = { type: "usage_reported", runId, turnId, epoch: lane.epoch, usage } as const;
    const stored = await lane.commit(item, { type, settlement: [report] });
    await host.allowance?.spend(usage);
    return this.#done(stored);
  }

  #done(item: Item): Item {
    this.#slots.done(this.#laneNumber, item);
    return item;
  }
}

/** The `begin_part` that a first delta implies. Bytes imply none, because they need a media type. */
function impliedBegin({ op, partId }: Delta): BeginPart | undefined {
  if (op === "replace_structured") return { op: "begin_part", partId, kind: "structured" };
  if (op === "append_text" || op === "set_metadata")
    return { op: "begin_part", partId, kind: "text" };
  return undefined;
}

/** True if the first delta of a part makes it a text. */
function beginsText(delta: Delta): boolean {
  if (delta.op === "commit_part") return delta.part.kind === "text";
  const begin = delta.op === "begin_part" ? delta : impliedBegin(delta);
  return begin?.kind === "text";
}
