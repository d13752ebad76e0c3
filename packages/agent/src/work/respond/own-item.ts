import { abortedCause } from "@millrace/core/ports";
import { commitDraft, commitOf } from "@millrace/core/writing";
import type { Author, Delta, Item, PartId, Usage } from "@millrace/core";
import type { BeginPart, Ending } from "@millrace/core/writing";
import { Fenced } from "../host.ts";
import { isLane, openItemLane } from "../item-lane.ts";
import type { ItemLane } from "../item-lane.ts";
import { AgentFailure, cutCall, illegalUpdate, storedFailure } from "./failure.ts";
import type { Places } from "./places.ts";
import { replaced } from "./replacement.ts";
import type { Replacement } from "./replacement.ts";

/** How an item ends, with what its writer knows of it. */
export type End = Ending & Provenance;

export interface Provenance {
  readonly usage?: Usage | undefined;
  readonly model?: string | undefined;
}

/** The end of an item that was stopped. */
export const stopped: Ending = { stop: "aborted", cause: abortedCause };

/**
 * One item that an agent writes by itself: its lane, or the item if it was stored before a crash. A
 * stored item takes no content again and comes back as it is.
 */
export class OwnItem {
  readonly #places: Places;
  readonly #author: Author;
  readonly #itemId: Item["id"];
  readonly #laneNumber: number;
  readonly #opened: ItemLane | Item;
  readonly #partIds = new Set<PartId>();
  #failure: AgentFailure | undefined;

  private constructor(
    places: Places,
    author: Author,
    { itemId, lane, opened }: ReturnType<Places["take"]> & { readonly opened: ItemLane | Item },
  ) {
    this.#places = places;
    this.#author = author;
    this.#itemId = itemId;
    this.#laneNumber = lane;
    this.#opened = opened;
    this.#failure = isLane(opened) ? undefined : storedFailure(opened);
  }

  static async open(places: Places, author: Author): Promise<OwnItem> {
    const { host, epochs, at } = places;
    const { itemId, lane } = places.take();
    const { runId, turnId } = at;
    const place = { runId, turnId, itemId, lane, epoch: epochs.next(), author };
    return new OwnItem(places, author, { itemId, lane, opened: await openItemLane(host, place) });
  }

  get isStored(): boolean {
    return !isLane(this.#opened);
  }

  /** The first failure of the agent's code in this item, also one that was stored before a crash. */
  get failure(): AgentFailure | undefined {
    return this.#failure;
  }

  /** The ids of all parts that the item has had. */
  get partIds(): ReadonlySet<PartId> {
    return this.#partIds;
  }

  /**
   * Takes a delta, and begins its part if that was left out. An illegal one is not written: it is the
   * item's failure, and returned.
   */
  write(delta: Delta): AgentFailure | undefined {
    const known = this.#partIds.has(delta.partId);
    this.#partIds.add(delta.partId);
    if (!isLane(this.#opened)) return undefined;
    const begin = known ? undefined : impliedBegin(delta);
    const fault = (begin && this.#opened.write(begin)) ?? this.#opened.write(delta);
    return fault && (this.#failure ??= illegalUpdate(delta.op, fault));
  }

  /** Stores what was written. After a failure the item is stored as failed, however it was to end. */
  async commit({ usage, model, ...ending }: End): Promise<Item> {
    if (!isLane(this.#opened)) return this.#done(this.#opened);
    const lane = this.#opened;
    if (ending.cause === undefined) this.#commitParts(lane);
    const end = this.#failure ? ({ stop: "failed", cause: this.#failure.cause } as const) : ending;
    const head = { id: this.#itemId, author: this.#author, usage, model };
    return await this.#store(lane, commitDraft(lane.draft(), head, end), "item_committed");
  }

  /**
   * Stores other content in place of what was written, and of any failure in it. Throws, and stores
   * nothing, if the new content is illegal.
   */
  async replace(full: Replacement, { usage, model }: Provenance = {}): Promise<Item> {
    if (!isLane(this.#opened)) return this.#done(this.#opened);
    const lane = this.#opened;
    const content = replaced(lane.draft(), full);
    if (content instanceof AgentFailure) throw (this.#failure ??= content);
    this.#failure = undefined;
    const item: Item = {
      id: this.#itemId,
      author: this.#author,
      ...content,
      ...(usage === undefined ? {} : { usage }),
      ...(model === undefined ? {} : { model }),
      ...(this.#places.at.signal.aborted ? stopped : { stop: "end" }),
    };
    return await this.#store(lane, item, "item_replaced");
  }

  /** Ends the parts that were left open. A call whose arguments can't be parsed stays open: it was cut. */
  #commitParts(lane: ItemLane): void {
    for (const part of lane.draft().parts) {
      if (part.state === "committed") continue;
      const commit = commitOf(lane.draft(), part.id);
      if (commit?.op !== "commit_part") continue;
      const { part: whole } = commit;
      if (whole.kind === "tool_call" && whole.fault !== undefined)
        this.#failure ??= cutCall(part, whole.fault.code);
      else lane.write(commit); // never at fault: it is what the lane's own draft holds
    }
  }

  async #store(
    lane: ItemLane,
    item: Item,
    type: "item_committed" | "item_replaced",
  ): Promise<Item> {
    const { host, at } = this.#places;
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
    for (const { id } of item.parts) this.#partIds.add(id);
    this.#places.done(this.#laneNumber, item);
    return item;
  }
}

/** The beginning of the part that a delta goes to. Bytes imply none: they need a media type. */
function impliedBegin({ op, partId }: Delta): BeginPart | undefined {
  if (op === "replace_structured") return { op: "begin_part", partId, kind: "structured" };
  if (op === "append_text" || op === "set_metadata")
    return { op: "begin_part", partId, kind: "text" };
  return undefined;
}
