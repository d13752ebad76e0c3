import type { Part } from "../content/part.ts";
import type { PartId } from "../ids.ts";
import { defaultJsonLimits } from "../json.ts";
import type { Json, JsonLimits, Metadata } from "../json.ts";
import type { BeginPart, Delta } from "./delta.ts";

/**
 * What the fold holds before an item is committed: parts in the order in which they began. Readable
 * at any moment, shown to people, never sent to a model. A draft is a value; folding makes a new one.
 */
export interface Draft {
  readonly parts: readonly DraftPart[];
  /** The first illegal delta. A draft with a fault keeps what came before and takes nothing more. */
  readonly fault: Fault | undefined;
  readonly limits: DraftLimits;
  /** A writer's draft has it. Readers take content as its writer has checked it. */
  readonly check: ContentCheck | undefined;
}

/** Why the content of a delta is not sound, of one that is legal at its place. */
export type ContentCheck = (
  draft: Draft,
  part: DraftPart | undefined,
  delta: Delta,
) => Fault | undefined;

/** A part of a draft: still being written, or committed. */
export type DraftPart = OpenPart | CommittedPart;

/** A part that is being written. `textOf` and `joinBytes` give its content in one piece. */
export interface OpenPart {
  readonly state: "open";
  readonly id: PartId;
  readonly begin: BeginPart;
  /** All text but the newest. Apart, because engines keep a growing string as a tree of its pieces. */
  readonly settled: string;
  /** The newest text, made flat before it settles: small chunks would hold three times their size. */
  readonly tail: string;
  readonly bytes?: ByteRope;
  readonly value?: Json;
  readonly metadata?: Metadata;
}

export interface CommittedPart {
  readonly state: "committed";
  readonly id: PartId;
  readonly part: Part;
}

/** Bytes as they came, newest first: appending copies nothing, and older drafts stay valid. */
export interface ByteRope {
  readonly chunk: Uint8Array;
  readonly before: ByteRope | undefined;
  readonly length: number;
}

/** Reaching a limit is a fault like any other. Text counts UTF-16 units: these bound memory. */
export interface DraftLimits {
  readonly parts: number;
  /** Of one text, reasoning or tool result. */
  readonly text: number;
  /** Of one call's arguments. */
  readonly arguments: number;
  /** Of one media or file part. */
  readonly bytes: number;
  /** Of one structured or custom value, and of metadata. */
  readonly json: JsonLimits;
}

/** The limits of a draft for which none are given. */
export const defaultDraftLimits: DraftLimits = {
  parts: 1_000,
  text: 8 * 1024 * 1024,
  arguments: 2 * 1024 * 1024,
  bytes: 32 * 1024 * 1024,
  json: defaultJsonLimits,
};

/**
 * For readers: what they are sent has passed its writer's limits, which they don't know. A writer's
 * own depth must stay within what the wire takes, 128.
 */
export const noDraftLimits: DraftLimits = {
  parts: Infinity,
  text: Infinity,
  arguments: Infinity,
  bytes: Infinity,
  json: { depth: 1_000, keys: Infinity, length: Infinity },
};

/** Why a delta is not legal at its place. */
export interface Fault {
  readonly code: FaultCode;
  readonly partId: PartId;
  /** What is wrong, for the author of the code that wrote the delta. */
  readonly message: string;
}

/** Why a delta is refused. */
export type FaultCode =
  /** The part was never begun. */
  | "unknown_part"
  /** A part of this id was begun or committed already. */
  | "part_exists"
  /** Something follows the part's commit. */
  | "part_committed"
  /** This kind of part is not filled by this operation. */
  | "wrong_kind"
  /** What is committed is not what was streamed. */
  | "commit_mismatch"
  | "part_too_large"
  | "too_many_parts"
  /** Text with half a surrogate pair in it. */
  | "malformed_text"
  /** A value or metadata that is not plain JSON within the limits. */
  | "malformed_value"
  | "unknown_op";

/** Where the fold of a reader begins. */
export const readersDraft: Draft = {
  parts: [],
  fault: undefined,
  limits: noDraftLimits,
  check: undefined,
};

/** The part's text so far. */
export function textOf(part: OpenPart): string {
  return part.settled + part.tail;
}

export function textLength(part: OpenPart): number {
  return part.settled.length + part.tail.length;
}

/** The part's bytes in one piece. Linear in their number. */
export function joinBytes(rope: ByteRope | undefined): Uint8Array {
  const joined = new Uint8Array(rope?.length ?? 0);
  for (let node = rope; node !== undefined; node = node.before) {
    joined.set(node.chunk, node.length - node.chunk.length);
  }
  return joined;
}
