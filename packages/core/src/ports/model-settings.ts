import type { Json, JsonObject } from "../json.ts";

/**
 * Settings that mean the same for every vendor. A vendor that can't do what one asks for refuses the
 * request, with what to do instead; none is dropped. Left out, the vendor's own default holds.
 */
export interface ModelSettings {
  /** The most tokens that the reply may have. With vendors that think, thinking counts. */
  readonly maxTokens?: number | undefined;
  /** From 0: how much chance there is in the choice of words. */
  readonly temperature?: number | undefined;
  /** From 0 to 1: only the likeliest words, up to this share, are chosen from. */
  readonly topP?: number | undefined;
  /** Texts that end the reply. They are not part of it. */
  readonly stop?: string | readonly string[] | undefined;
  /** The same seed and request give the same reply, as far as the vendor can. */
  readonly seed?: number | undefined;
  /** Whether tools are called: as the model likes, never, one at least, or this one. */
  readonly toolChoice?: "auto" | "none" | "required" | { readonly tool: string } | undefined;
  /** Whether one reply may have several calls. */
  readonly parallelTools?: boolean | undefined;
  /**
   * How much the model thinks. `none` is not at all; `minimal` and `max` are the least and the most that
   * the model has.
   */
  readonly effort?: "none" | "minimal" | "low" | "medium" | "high" | "max" | undefined;
  /** Whether the model thinks before it answers, or with how many tokens at most. */
  readonly thinking?: boolean | { readonly budgetTokens: number } | undefined;
  /**
   * Whether what the model thinks is part of the reply, in the readable form that the vendor has. Left out
   * in a conversation: it is. Has no effect on how much the model thinks.
   */
  readonly showThinking?: boolean | undefined;
  /**
   * What of the request the vendor keeps, so that the next one costs less. `true`: instructions, tools and
   * items. `false` asks for nothing, and so takes back what the model's own settings ask for. Left out in a
   * conversation: as `true`, with vendors that keep nothing by themselves.
   */
  readonly cache?: boolean | CacheSettings | undefined;
  /** At which price and speed the vendor answers. */
  readonly serviceTier?: "auto" | "default" | "flex" | "priority" | undefined;
  /** Labels that the vendor keeps with the request. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** What of a request is kept. Each of the first three is everything up to its end. */
export interface CacheSettings {
  readonly instructions?: boolean | undefined;
  readonly tools?: boolean | undefined;
  /** The transcript, up to its last item. Single parts are marked by their options. */
  readonly items?: boolean | undefined;
  readonly ttl?: "5m" | "30m" | "1h" | "12h" | "24h" | undefined;
  /** Requests with the same key are sent to the same place. */
  readonly key?: string | undefined;
}

/**
 * The settings of a request: those of `ModelSettings`, and beside them the vendor's own fields, by their
 * own names. The two of one thing, such as `maxTokens` and `max_tokens`, are refused together.
 */
export interface RequestSettings extends Omit<ModelSettings, "thinking" | "serviceTier"> {
  /** As in `ModelSettings`, or the object that a vendor has by this name. */
  readonly thinking?: ModelSettings["thinking"] | JsonObject;
  readonly serviceTier?: ModelSettings["serviceTier"] | JsonObject;
  readonly [field: string]: Json | CacheSettings | undefined;
}

/**
 * How a vendor is to read a part. It stands in the part's metadata, as `options`:
 * `metadata: { options: { detail: "low" } }`. What a vendor can't do is refused.
 */
// A type and not an interface, because metadata is JSON.
export type PartOptions = {
  /** How closely an image is looked at. */
  readonly detail?: "auto" | "low" | "high";
  /** Whether the reply cites a document. */
  readonly citations?: boolean;
  /** The request up to this part is kept, as `cache` of the settings does it. */
  readonly cache?: boolean;
  /** What a document is about, for the model and not to be cited. */
  readonly context?: string;
};
