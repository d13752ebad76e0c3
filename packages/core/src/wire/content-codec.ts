import { encode } from "./encode.ts";
import type { ArgumentFault } from "../content/arguments.ts";
import { isBlobHash } from "../content/blob.ts";
import type { BlobRef } from "../content/blob.ts";
import type { Author, Cause, Ending, Item, StopReason } from "../content/item.ts";
import { isCutStop } from "../content/item.ts";
import type {
  CustomPart,
  FilePart,
  MediaPart,
  OpaquePart,
  Part,
  ReasoningPart,
  ResultStatus,
  StructuredPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../content/part.ts";
import type { Usage } from "../content/usage.ts";
import type { CallId, ItemId, PartId } from "../ids.ts";
import type { Json, JsonObject } from "../json.ts";
import {
  amount,
  bytes,
  checked,
  count,
  decodeBy,
  exactlyOne,
  flag,
  id,
  json,
  jsonObject,
  list,
  malformed,
  object,
  oneOf,
  optional,
  tagged,
  text,
} from "./shape.ts";
import type { Decoded, Shape } from "./shape.ts";

const base = { id: id<PartId>(), metadata: optional(jsonObject) };

const argumentFault = object<ArgumentFault>({
  // Codes may grow; a reader only needs to know that there is one.
  code: text as Shape<ArgumentFault["code"]>,
  at: optional(count),
  key: optional(text),
});

/** A tool call before it is known which of its two forms it has. */
type AnyCall = Omit<ToolCallPart, "input" | "fault"> & {
  readonly input?: JsonObject;
  readonly fault?: ArgumentFault;
};

const toolCall = exactlyOne<ToolCallPart>(
  object<AnyCall>({
    ...base,
    kind: oneOf("tool_call"),
    callId: id<CallId>(),
    tool: text,
    raw: text,
    opaque: optional(json),
    input: optional(jsonObject),
    fault: optional(argumentFault),
  }),
  "input",
  "fault",
);

const blob = checked<BlobRef, BlobRef>(
  object<BlobRef>({ hash: text, size: count }),
  ({ hash }) => !isBlobHash(hash) && "a SHA-256",
);

type Sourced<T> = Omit<T, "bytes" | "url" | "blob"> & {
  readonly bytes?: Uint8Array;
  readonly url?: string;
  readonly blob?: BlobRef;
};
const source = { bytes: optional(bytes), url: optional(text), blob: optional(blob) };

const media = exactlyOne<MediaPart>(
  object<Sourced<MediaPart>>({
    ...base,
    ...source,
    kind: oneOf("media"),
    mediaType: text,
  }),
  "bytes",
  "url",
  "blob",
);

const file = exactlyOne<FilePart>(
  object<Sourced<FilePart>>({
    ...base,
    ...source,
    kind: oneOf("file"),
    name: text,
    mediaType: text,
  }),
  "bytes",
  "url",
  "blob",
);

/** What this version does not know goes through it unchanged. */
const opaquePart: Shape<OpaquePart> = {
  form: { by: "original" },
  decode: (value, path) => {
    const original = jsonObject.decode(value, path);
    if (typeof original["kind"] !== "string") return malformed(path, "a kind");
    return { kind: "opaque", id: base.id.decode(original["id"], `${path}.id`), original };
  },
};

export const resultStatus: Shape<ResultStatus> = oneOf<ResultStatus>(
  "ok",
  "failed",
  "denied",
  "aborted",
  "unknown",
);

export const part: Shape<Part> = tagged<Part, "kind">(
  "kind",
  {
    text: object<TextPart>({ ...base, kind: oneOf("text"), text }),
    reasoning: object<ReasoningPart>({
      ...base,
      kind: oneOf("reasoning"),
      text,
      opaque: optional(json),
    }),
    tool_call: toolCall,
    tool_result: object<ToolResultPart>({
      ...base,
      kind: oneOf("tool_result"),
      callId: id<CallId>(),
      tool: text,
      status: resultStatus,
      text,
      output: optional(json),
      synthetic: optional(oneOf<true>(true)),
    }),
    media,
    file,
    structured: object<StructuredPart>({ ...base, kind: oneOf("structured"), value: json }),
    custom: object<CustomPart>({ ...base, kind: oneOf("custom"), name: text, value: json }),
  },
  opaquePart,
);

/** A part as plain JSON, for code that writes parts outside of an event. */
export function encodePart(value: Part): JsonObject {
  return encode(part, value);
}

export const usage: Shape<Usage> = object<Usage>({
  inputTokens: amount,
  outputTokens: amount,
  cachedTokens: amount,
  cacheWriteTokens: optional(amount),
  longCacheWriteTokens: optional(amount),
  reasoningTokens: optional(amount),
  cost: optional(amount),
});

export const cause: Shape<Cause> = object<Cause>({
  code: text,
  message: text,
  retryable: optional(flag),
  evidence: optional(json),
});

export const author: Shape<Author> = oneOf<Author>("user", "model", "tool", "agent");

export const stopReason: Shape<StopReason> = oneOf<StopReason>(
  "end",
  "tools",
  "length",
  "filtered",
  "paused",
  "aborted",
  "truncated",
  "failed",
);

/** An item before it is known that its ending is whole. */
type AnyItem = Omit<Item, keyof Ending> & {
  readonly stop: StopReason;
  readonly evidence?: Json;
  readonly cause?: Cause;
};

const anyItem = object<AnyItem>({
  id: id<ItemId>(),
  author,
  parts: list(part),
  stop: stopReason,
  evidence: optional(json),
  cause: optional(cause),
  usage: optional(usage),
  model: optional(text),
  metadata: optional(jsonObject),
});

export const item: Shape<Item> = checked<AnyItem, Item>(anyItem, ({ stop, cause, evidence }) => {
  const cut = isCutStop(stop);
  const sound = cut ? cause !== undefined && evidence === undefined : cause === undefined;
  return !sound && `${cut ? "a" : "no"} cause of ${stop}`;
});

/** An item as JSON: bytes are base64. */
export function encodeItem(value: Item): JsonObject {
  return encode(item, value);
}

/** An item from outside, such as one of a page of older items. */
export function decodeItem(value: unknown): Decoded<Item> {
  return decodeBy(item, value);
}

/** A part from outside, such as one that a client sends. */
export function decodePart(value: unknown): Decoded<Part> {
  return decodeBy(part, value);
}
