import { List, defaultDraftLimits, partId } from "@millrace/core/writing";
import type { Cause, Json, JsonObject, PartId, Usage } from "@millrace/core";
import type { ArgumentFault, Ending, Metadata, PartOpening } from "@millrace/core/writing";
import type { ClosePart, Operation, ReplyContext, Translated } from "../../protocol.ts";
import { failure } from "../../failure.ts";

export interface ResponsesState {
  /** The last `sequence_number`: NaN before the first, Infinity for a vendor that does not number. */
  readonly sequence: number;
  /** The event that had it, to know a repeated one. */
  readonly last: JsonObject | undefined;
  /** All that changes seldom, so that a delta costs one small object. */
  readonly book: Book;
}

export interface Book {
  /** The number of the first event that had one. */
  readonly first: number | undefined;
  readonly parts: number;
  readonly calls: number;
  readonly taken: ReadonlySet<string>;
  readonly items: ReadonlyMap<ItemKey, VendorItem>;
  /** Where an item stands, by its id, for vendors that leave out `output_index`. */
  readonly keys: ReadonlyMap<string, ItemKey>;
  /** The id of the latest reasoning item: what follows may be sent back only together with it. */
  readonly after: string | undefined;
  readonly audio: PartId | undefined;
  readonly transcript: PartId | undefined;
  /** What the vendor said of the response itself. */
  readonly facts: Readonly<Record<string, Json>>;
  readonly usage: Usage | undefined;
  /** Proved by a terminal event. */
  readonly ending: Ending | undefined;
}

/** `output_index`, or the item's id where there is none. */
export type ItemKey = number | string;

export type VendorItem = MessageItem | ReasoningItem | CallItem | HostedItem;

interface ItemBase {
  readonly id: string | undefined;
  readonly after: string | undefined;
  readonly closed: boolean;
}

export interface MessageItem extends ItemBase {
  readonly kind: "message";
  readonly phase: string | undefined;
  readonly contents: ReadonlyMap<number, Content>;
}

export interface Content {
  readonly partId: PartId;
  readonly refusal: boolean;
  /** What a `.done` said. */
  readonly whole: string | undefined;
  readonly annotations: List<Json>;
}

export interface ReasoningItem extends ItemBase {
  readonly kind: "reasoning";
  readonly partId: PartId;
  /** Which of the two texts is shown: the first that came. They say the same at different length. */
  readonly source: ReasoningSource | undefined;
  /** The section that was written last. */
  readonly section: number | undefined;
  /** The finished item, while its encrypted content is waited for. */
  readonly done: JsonObject | undefined;
}

export type ReasoningSource = "summary" | "content";

export interface CallItem extends ItemBase {
  readonly kind: "call";
  /** A tool that takes free text. Its input is written as the JSON `{"input": "…"}`. */
  readonly custom: boolean;
  /** Nothing until the call's name is known. */
  readonly partId: PartId | undefined;
  /** Arguments came before the name. They are taken from a `.done`, which has them all. */
  readonly missed: boolean;
  /** Something other than white space was streamed. */
  readonly filled: boolean;
  /** Half a character of free text, until the other half comes. */
  readonly held: string;
  readonly whole: string | undefined;
  /** The finished item of a call without arguments, which a cut reply makes doubtful. */
  readonly done: JsonObject | undefined;
}

export interface HostedItem extends ItemBase {
  readonly kind: "hosted";
  readonly partId: PartId;
  readonly type: string;
  readonly value: JsonObject;
}

export function initial({ takenCallIds }: ReplyContext): ResponsesState {
  const book: Book = {
    first: undefined,
    parts: 0,
    calls: 0,
    taken: takenCallIds,
    items: new Map(),
    keys: new Map(),
    after: undefined,
    audio: undefined,
    transcript: undefined,
    facts: {},
    usage: undefined,
    ending: undefined,
  };
  return { sequence: Number.NaN, last: undefined, book };
}

export const noAnnotations: List<Json> = List.of<Json>();

/** More items or parts than this is no reply that anybody could read. */
const mostParts = defaultDraftLimits.parts;

/** What one event changes. It lives for one step only; the book given to it stays as it was. */
export class Edit {
  book: Book;
  sign: Translated<ResponsesState>["sign"];
  failure: Cause | undefined;
  readonly operations: Operation[] = [];

  constructor(book: Book) {
    this.book = book;
  }

  begin(opening: PartOpening): PartId {
    const parts = this.book.parts + 1;
    const id = partId(`p${parts}`);
    this.book = { ...this.book, parts };
    if (parts > mostParts) this.fail("too_many_parts", `a reply has at most ${mostParts} parts`);
    else this.add({ op: "begin_part", partId: id, ...opening });
    return id;
  }

  /** What comes after a failure is not done: it may rest on what was refused. */
  add(operation: Operation): void {
    if (this.failure === undefined) this.operations.push(operation);
  }

  append(to: PartId, chunk: string): void {
    if (chunk !== "") this.add({ op: "append_text", partId: to, chunk });
  }

  describe(part: PartId, metadata: Metadata): void {
    this.add({ op: "set_metadata", partId: part, metadata });
  }

  close(
    part: PartId,
    rest: { whole?: string | undefined; opaque?: Json; fault?: ArgumentFault } = {},
  ): void {
    const { whole, ...others } = rest;
    const close: ClosePart = { op: "close_part", partId: part, ...others };
    this.add(whole === undefined ? close : { ...close, whole });
  }

  put(key: ItemKey, item: VendorItem): void {
    const items = new Map(this.book.items).set(key, item);
    if (items.size > mostParts)
      this.fail("too_many_parts", `a reply has at most ${mostParts} items`);
    const { id } = item;
    const known = id === undefined || this.book.keys.get(id) === key;
    const keys = known ? this.book.keys : new Map(this.book.keys).set(id, key);
    this.book = { ...this.book, items, keys };
  }

  fail(code: "protocol" | "too_many_parts", message: string, evidence?: Json): void {
    this.failure ??= failure(code, message, evidence);
  }
}
