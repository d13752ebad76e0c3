import type { CallId, PartId } from "../ids.ts";
import type { Json, JsonObject, Metadata } from "../json.ts";
import type { ArgumentFault } from "./arguments.ts";
import type { BlobRef } from "./blob.ts";

/**
 * One committed piece of content. Parts are durable and complete; what is still being written is a
 * Draft. Bytes are bytes in memory; only the wire turns them into text.
 */
export type Part =
  | TextPart
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | MediaPart
  | FilePart
  | StructuredPart
  | CustomPart
  | OpaquePart;

/** The kinds that this version knows. `opaque` is not among them: it stands for those it doesn't. */
export type PartKind = Exclude<Part["kind"], "opaque">;

interface PartBase {
  readonly id: PartId;
  readonly metadata?: Metadata;
}

/** Text, as it was written. */
export interface TextPart extends PartBase {
  readonly kind: "text";
  readonly text: string;
}

/** Reasoning that a model wrote before or between its words. */
export interface ReasoningPart extends PartBase {
  readonly kind: "reasoning";
  readonly text: string;
  /**
   * What the vendor wants back untouched with the next request: a signature, encrypted reasoning.
   * Only the protocol that made it may read it.
   */
  readonly opaque?: Json;
}

/**
 * What the model asked for. `raw` is its argument text to the letter. A call has either an `input`,
 * parsed strictly, or a `fault`; one with a fault never runs and is answered with the fault.
 */
export type ToolCallPart = PartBase & {
  readonly kind: "tool_call";
  readonly callId: CallId;
  readonly tool: string;
  readonly raw: string;
  /** As `opaque` of reasoning: some vendors sign their calls. */
  readonly opaque?: Json;
} & (
    | { readonly input: JsonObject; readonly fault?: never }
    | { readonly input?: never; readonly fault: ArgumentFault }
  );

/**
 * How a call ended. `unknown`: it may have run, and its outcome was not recorded (a crash between the
 * effect and its record). `denied` and `aborted` calls did not run to an end.
 */
export type ResultStatus = "ok" | "failed" | "denied" | "aborted" | "unknown";

/** The single answer to a call. */
export interface ToolResultPart extends PartBase {
  readonly kind: "tool_result";
  readonly callId: CallId;
  readonly tool: string;
  readonly status: ResultStatus;
  /** What the model gets: what the tool wrote while it ran and then what it returned, or why it did not run. */
  readonly text: string;
  /** What the tool returned, as JSON. Left out if that is the text itself, or nothing. */
  readonly output?: Json;
  /** True when no tool wrote this: it was put there so that the call has an answer. */
  readonly synthetic?: true;
}

/** An image, sound or film: by its bytes, by the address where they are, or by their blob. */
export type MediaPart = PartBase & { readonly kind: "media"; readonly mediaType: string } & Source;

/** A file, by its bytes, by an address, or by its blob. */
export type FilePart = PartBase & {
  readonly kind: "file";
  readonly name: string;
  readonly mediaType: string;
} & Source;

type Source =
  | { readonly bytes: Uint8Array; readonly url?: never; readonly blob?: never }
  | { readonly url: string; readonly bytes?: never; readonly blob?: never }
  /** The bytes are in the blob store, in the place of the session that the part is in. */
  | { readonly blob: BlobRef; readonly bytes?: never; readonly url?: never };

/** A value with a shape that the request asked for. */
export interface StructuredPart extends PartBase {
  readonly kind: "structured";
  readonly value: Json;
}

/** Content that an application or a vendor defines and names, such as a citation or a server tool. */
export interface CustomPart extends PartBase {
  readonly kind: "custom";
  readonly name: string;
  readonly value: Json;
}

/** A part of a kind that a newer version wrote. Carried and sent on unchanged, never interpreted. */
export interface OpaquePart {
  readonly kind: "opaque";
  readonly id: PartId;
  readonly original: JsonObject;
}
