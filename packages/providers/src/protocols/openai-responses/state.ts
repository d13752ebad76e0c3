import { List, defaultDraftLimits, partId } from "@millrace/core/model";
import type { Cause, Json, JsonObject, PartId, Usage } from "@millrace/core";
import type { ArgumentFault, Ending, Metadata, PartOpening } from "@millrace/core/writing";
import type { ClosePart, Operation, ReplyContext, Translated } from "../../protocol.ts";
import { failure } from "../../failure.ts";

export interface ResponsesState {
  /** The last `sequence_number`: NaN before the first, Infinity once one did not rise. */
  readonly sequence: number;
  /** The event with that number, to detect a repetition. */
  readonly last: JsonObject | undefined;
  /** State that changes rarely, kept apart so that a delta copies one small object. */
  readonly book: Book;
}

export interface Book {
  readonly parts: number;
  readonly calls: number;
  /** Calls that never got a name. */
  readonly namelessCalls: number;
  readonly taken: ReadonlySet<string>;
  /** The names of the vendor's own tools that are offered. */
  readonly native: { readonly has: (name: string) => boolean };
  readonly items: ReadonlyMap<ItemKey, VendorItem>;
  /** Keys of items by id, for vendors that omit `output_index`. */
  readonly keys: ReadonlyMap<string, ItemKey>;
  /** The items at an index that the vendor gave to more than one; undefined while there is none. */
  readonly shared: ReadonlyMap<number, readonly ItemKey[]> | undefined;
  /**
   * The id of the latest reasoning item. The items after it can be sent back only together with it.
   */
  readonly after: string | undefined;
  readonly audio: PartId | undefined;
  readonly transcript: PartId | undefined;
  /** Facts about the response, for the evidence. */
  readonly facts: Readonly<Record<string, Json>>;
  readonly usage: Usage | undefined;
  /** Set by a terminal event. */
  readonly ending: Ending | undefined;
}

/** `output_index`, or the item's id without one, or a name of ours for an index that is taken. */
export type ItemKey = number | string;

export type VendorItem = MessageItem | ReasoningItem | CallItem | NativeItem | HostedItem;

interface ItemBase {
  readonly id: string | undefined;
  readonly after: string | undefined;
  readonly closed: boolean;
}

export interface MessageItem extends ItemBase {
  readonly kind: "message";
  readonly phase: string | undefined;
  readonly contents: ReadonlyMap<number, Content>;
  /** The item of the same id that ended before this text came. */
  readonly before: VendorItem | undefined;
  /** The finished item, if no full text came with it. The response's own list may have it. */
  readonly done: JsonObject | undefined;
}

export interface Content {
  readonly partId: PartId;
  readonly refusal: boolean;
  /** The complete text of a `.done`. */
  readonly whole: string | undefined;
  readonly annotations: List<Json>;
}

export interface ReasoningItem extends ItemBase {
  readonly kind: "reasoning";
  readonly partId: PartId;
  /**
   * Which of the two texts is shown: the first to arrive. They are a summary and the full text.
   */
  readonly source: ReasoningSource | undefined;
  /** The section written last. */
  readonly section: number | undefined;
  /** The finished item, until its encrypted content arrives. */
  readonly done: JsonObject | undefined;
}

export type ReasoningSource = "summary" | "content";

export interface CallItem extends ItemBase {
  readonly kind: "call";
  /** A tool that takes free text. Its input is written as the JSON `{"input": "…"}`. */
  readonly custom: boolean;
  /** The vendor's id of the call. */
  readonly callId: string | undefined;
  /** Undefined until the name has arrived. */
  readonly partId: PartId | undefined;
  /**
   * True if arguments arrived before the name. They are taken from a `.done`, which contains all of
   * them.
   */
  readonly missed: boolean;
  /** True if more than white space was streamed. */
  readonly filled: boolean;
  /** A high surrogate of free text, until the next delta completes it. */
  readonly held: string;
  readonly whole: string | undefined;
  /**
   * The finished item of a call without arguments, which are uncertain until the response ends.
   */
  readonly done: JsonObject | undefined;
}

/** A call of a tool that the vendor defines and the caller runs. */
export interface NativeItem extends ItemBase {
  readonly kind: "native";
  /** Undefined if the reply has too many calls. */
  readonly partId: PartId | undefined;
  readonly type: string;
  /** As it was announced. */
  readonly value: JsonObject;
  /** A high surrogate of streamed text, until the next delta completes it. */
  readonly held: string;
  /** The number of the command that is streamed: NaN if no more of them are. */
  readonly command: number | undefined;
}

export interface HostedItem extends ItemBase {
  readonly kind: "hosted";
  readonly partId: PartId;
  readonly type: string;
  readonly value: JsonObject;
}

export function initial({ takenCallIds, native = new Map() }: ReplyContext): ResponsesState {
  const book: Book = {
    parts: 0,
    calls: 0,
    namelessCalls: 0,
    taken: takenCallIds,
    native,
    items: new Map(),
    keys: new Map(),
    shared: undefined,
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

/** The limit of items and parts in a reply. */
const mostParts = defaultDraftLimits.parts;

/** The changes of one event. Used for one step; the given book stays unchanged. */
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

  /** Adds an operation. Ignored after a failure, since it may depend on what was refused. */
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

  fail(
    code: "protocol" | "contradiction" | "too_many_parts",
    message: string,
    evidence?: Json,
  ): void {
    this.failure ??= failure(code, message, evidence);
  }
}
