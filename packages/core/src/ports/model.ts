import type { Transcript } from "../content/transcript.ts";
import type { Ending } from "../content/item.ts";
import type { Part } from "../content/part.ts";
import type { Usage } from "../content/usage.ts";
import type { Delta } from "../delta/delta.ts";
import type { RetryScheduled, Stalled, TraceContext } from "../event/event.ts";
import type { ItemId } from "../ids.ts";
import type { Json } from "../json.ts";
import type { ModelResponse } from "./model-response.ts";
import type { RequestSettings } from "./model-settings.ts";
import type { VendorTool } from "./vendor-tool.ts";

/** What the loop calls: a request in, deltas out. */
export interface Model {
  /** As `protocol/model`; it stands on the items that the model writes. */
  readonly id: string;
  readonly stream: (request: ModelRequest) => ModelStream;
  /**
   * What may change in a conversation by `updates`, so that its requests begin alike. `tools` includes
   * instructions. Left out: nothing, every request has the newest instructions and tools.
   */
  readonly appends?: "instructions" | "tools" | undefined;
  /** True if what it thought is valid only behind what stood before it then. */
  readonly bindsReasoning?: boolean | undefined;
  /** True if it takes `summarise`. */
  readonly summarises?: boolean | undefined;
  /**
   * What a million of its tokens usually costs, in US dollars. For estimates alone: the cost of a reply is in
   * its usage. Left out: unknown.
   */
  readonly price?: { readonly input: number; readonly output: number } | undefined;
}

/** What a model is asked: the transcript, and what it may use to reply. */
export interface ModelRequest {
  readonly transcript: Transcript;
  readonly instructions?: string | undefined;
  readonly tools?: readonly ToolDescription[] | undefined;
  /** Left out: the reply is free. Calls of tools may come before the value in either case. */
  readonly output?: OutputShape | undefined;
  /**
   * What has changed in instructions and tools since the request that they began, each behind an item. Only
   * for a model that `appends`.
   */
  readonly updates?: readonly RequestUpdate[] | undefined;
  /**
   * Asks for a summary of the transcript, and not for a reply, which may end with any item. Only for a model
   * that `summarises`. The summary is a custom part `compaction` whose value has the text as `content`; what
   * else it has is the vendor's, by which reasoning behind the transcript stays valid behind the summary.
   */
  readonly summarise?: { readonly instructions?: string | undefined } | undefined;
  /** Settings that all vendors share, and the vendor's own fields beside them. */
  readonly settings?: RequestSettings | undefined;
  /**
   * The conversation that the request belongs to. Each of its requests begins with the one before, as those
   * of a session do. Where the settings say nothing, a model then uses what costs less and shows more: it
   * keeps what it can of a request for the next one, and shows what it thinks. Left out: the request stands
   * alone.
   */
  readonly conversation?:
    | {
        /** The same for all requests of the conversation, and for no others. Vendors see it. */
        readonly key: string;
        /** True if no further request is expected, so that nothing is worth keeping. */
        readonly isSingle?: boolean | undefined;
      }
    | undefined;
  /**
   * `false`: one request and no more. The caller repeats it, as the loop does, and waits as long as
   * the vendor asked for, which stands in the evidence of the cause. Left out: the model may repeat
   * the request by its own policy, as long as no delta of it was emitted.
   */
  readonly retry?: false | undefined;
  /**
   * `false`: the caller watches for silence, as the loop does, and aborts the signal. The model neither
   * reports a stall nor ends the request because nothing comes, so that two clocks never disagree.
   * Left out: the model watches by its own settings.
   */
  readonly stall?: false | undefined;
  /** Called when bytes of the answer come, also those that make no delta, as keep-alives. */
  readonly onBytes?: (() => void) | undefined;
  /** The span that the request is part of. A model may make spans below it; ours send it if asked to. */
  readonly trace?: TraceContext | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with what happens beside the deltas, while it happens. What it throws is ignored. */
  readonly notify?: ((notice: ModelNotice) => void) | undefined;
}

/** An event of a request for viewers and operators. It is not part of the content. */
export type ModelNotice = Stalled | RetryScheduled | Remark;

/**
 * What a reply lacks: an unknown event, a call without a name, the rest of a reply that reached its limit;
 * or its request: a part or a feature that the vendor refused before.
 */
export interface Remark {
  readonly type: "remark";
  readonly code:
    | "unknown_event"
    | "bad_event"
    | "lossy_text"
    | "nameless_call"
    | "cut_at_limit"
    | "left_out"
    | "beta_refused";
  readonly message: string;
  readonly evidence?: Json;
}

/** The text of a user's turn that is put where a vendor requires one. */
export const continuation = "(continue)";

/** What changes in the middle of a conversation. What stood before stays as it was. */
export interface RequestUpdate {
  /** The item behind which it stands. */
  readonly after: ItemId;
  /** In words: new instructions, or another form of the answer. */
  readonly text?: string | undefined;
  /** What holds for the newest turn alone, as a date. A vendor that can leaves it out of later turns. */
  readonly notes?: string | undefined;
  /** Tools that are new, or are not as they were. */
  readonly added?: readonly ToolDescription[] | undefined;
  /** The names of tools that are gone. */
  readonly removed?: readonly string[] | undefined;
}

/** A tool as it is described to a model. */
export interface ToolDescription {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON Schema. */
  readonly input: Json;
  /** That it is a tool which vendors define. Left out: an ordinary function. */
  readonly vendor?: VendorTool | undefined;
}

/**
 * The reply is one JSON value of this shape. It comes as text. Vendors hold to the shape as well as
 * they can, and a reply that is cut is no whole value, so its consumer checks it.
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
  /**
   * Consumes the stream without a queue: `visit` is called with each delta inside the call that made
   * it, so nothing is merged, and a slow `visit` holds up the source. Called in the same tick as
   * `stream`, it misses no boundary between deltas; what was made earlier is visited first, perhaps
   * merged. If `visit` throws, the reply ends as failed. Resolves with the reply. Optional: a stream
   * without it is iterated.
   */
  readonly forEach?: (visit: (delta: Delta) => void) => Promise<Reply>;
  /** Always settles, never rejects: abort, truncation and failure are endings of the reply. */
  readonly result: Promise<Reply>;
}

/** An item without the identity that its session gives it. */
export type Reply = Ending & {
  readonly parts: readonly Part[];
  readonly usage?: Usage;
  readonly model: string;
  readonly response?: ModelResponse;
};
