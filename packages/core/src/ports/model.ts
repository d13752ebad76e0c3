import type { Transcript } from "../content/transcript.ts";
import type { Ending } from "../content/item.ts";
import type { Part } from "../content/part.ts";
import type { Usage } from "../content/usage.ts";
import type { Delta } from "../delta/delta.ts";
import type { RetryScheduled, Stalled } from "../event/event.ts";
import type { Json, JsonObject } from "../json.ts";

/** What the loop calls: a request in, deltas out. */
export interface Model {
  /** As `protocol/model`; it stands on the items that the model writes. */
  readonly id: string;
  readonly stream: (request: ModelRequest) => ModelStream;
}

/** What a model is asked: the transcript, and what it may use to reply. */
export interface ModelRequest {
  readonly transcript: Transcript;
  readonly instructions?: string | undefined;
  readonly tools?: readonly ToolDescription[] | undefined;
  /** Left out: the reply is free. Calls of tools may come before the value in either case. */
  readonly output?: OutputShape | undefined;
  /** Settings of the model, passed on as they are. */
  readonly settings?: JsonObject | undefined;
  /**
   * `false`: one request and no more. The caller repeats it, as the loop does, and waits as long as
   * the vendor asked for, which stands in the evidence of the cause. Left out: the model may repeat
   * the request by its own policy, as long as no delta of it was emitted.
   */
  readonly retry?: false | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told of what happens beside the deltas, while it happens. What it throws is ignored. */
  readonly notify?: ((notice: ModelNotice) => void) | undefined;
}

/** What a viewer or an operator may want to know of a request, and no reader of its content. */
export type ModelNotice = Stalled | RetryScheduled | Remark;

/** Something about the vendor's bytes that changed nothing, such as an event that nobody knows. */
export interface Remark {
  readonly type: "remark";
  readonly code: "unknown_event" | "bad_event" | "lossy_text";
  readonly message: string;
  readonly evidence?: Json;
}

/** What a model is told of a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON Schema. */
  readonly input: Json;
}

/**
 * The reply is one JSON value of this shape. It comes as text. Vendors hold to the shape as well as
 * they can, and a reply that is cut is no whole value, so whoever reads it checks it.
 */
export interface OutputShape {
  /** Up to 64 letters, digits, "_" and "-", beginning with a letter or "_". The model may see it. */
  readonly name: string;
  /** A JSON Schema. It is sent as it is or not at all, never changed. */
  readonly schema: Json;
}

/**
 * One request seen in two ways: its deltas as they come, and what it came to. Neither waits for the
 * other, and both come from the same request. One consumer; leaving the loop ends the request.
 */
export interface ModelStream extends AsyncIterable<Delta> {
  /** Always settles, never rejects: abort, truncation and failure are endings of the reply. */
  readonly result: Promise<Reply>;
}

/** An item without the identity that its session gives it. */
export type Reply = Ending & {
  readonly parts: readonly Part[];
  readonly usage?: Usage;
  readonly model: string;
};
