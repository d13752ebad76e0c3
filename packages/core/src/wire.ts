// What crosses a wire or a disk: codecs of messages, whole and as steps, of deltas and cursors, server-sent events, base64,
// and JSON from outside.
export { schemaVersion } from "./event/event.ts";
export { publicFact } from "./event/public-fact.ts";
export { createBatchEncoder } from "./wire/batch-encoder.ts";
export type { BatchEncoder } from "./wire/batch-encoder.ts";
export { decodeMessage, encodeMessage } from "./wire/message-codec.ts";
export type { Message } from "./wire/message-codec.ts";
export { encodeStep } from "./wire/step-encoder.ts";
export { readStep } from "./wire/step-reader.ts";
export { receive } from "./wire/receive.ts";
export type { Received } from "./wire/receive.ts";
export { streamEndReasons } from "./wire/stream-ended.ts";
export type { StreamEnded, StreamEndReason } from "./wire/stream-ended.ts";
export { decodeItem, decodePart, encodeItem } from "./wire/content-codec.ts";
export { decodeDelta, encodeDelta } from "./wire/delta-codec.ts";
export { decodeCursor, encodeCursor } from "./wire/cursor-codec.ts";
export type { Decoded, WireFault } from "./wire/shape.ts";
export { createSseDecoder, encodeSse, encodeSseComment } from "./wire/sse.ts";
export type { SseDecoder, SseEvent } from "./wire/sse.ts";
export { decodeBase64, encodeBase64 } from "./wire/base64.ts";
export { checkJson, equalJson, isJsonObject } from "./json.ts";
export type { JsonLimits, JsonOf } from "./json.ts";
export { parseJsonText } from "./parse-json.ts";
export { JsonScan, parseJson } from "./scan-json.ts";
export { isWellFormed } from "./text.ts";
