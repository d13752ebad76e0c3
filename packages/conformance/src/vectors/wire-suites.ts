import { MillraceError } from "@millrace/core";
import {
  createSseDecoder,
  decodeCursor,
  decodeDelta,
  decodeMessage,
  encodeCursor,
  encodeDelta,
  encodeMessage,
  encodeSse,
  encodeSseComment,
} from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";
import type { Cursor } from "@millrace/core/reading";
import type { SseEvent } from "@millrace/core/wire";
import { list, record, text, toJson } from "./plain.ts";

/** `{ cursor }` to `{ text }`, or `{ text }` to `{ cursor }`, which is null for any other text. */
export function answerCursor(input: JsonObject): Json {
  if (input["cursor"] !== undefined)
    return { text: encodeCursor(input["cursor"] as unknown as Cursor) };
  return toJson({ cursor: decodeCursor(text(input["text"])) ?? null });
}

/** `{ message }` or `{ delta }` to `{ ok, encoded }` or `{ fault, path }`. */
export function answerCodec(input: JsonObject): Json {
  if (input["delta"] !== undefined) {
    const decoded = decodeDelta(input["delta"]);
    if (!decoded.ok) return { fault: decoded.fault.code, path: decoded.fault.path };
    return { ok: true, encoded: encodeDelta(decoded.value) };
  }
  const line = input["line"] ?? JSON.stringify(input["message"]);
  const decoded = decodeMessage(text(line));
  if (!decoded.ok) return { fault: decoded.fault.code, path: decoded.fault.path };
  return { ok: true, encoded: JSON.parse(encodeMessage(decoded.value)) as Json };
}

/** `{ chunks, limit? }` to `{ items }`; `{ event }` or `{ comment }` to `{ text }` or `{ error }`. */
export function answerSse(input: JsonObject): Json {
  if (input["chunks"] !== undefined) {
    const { feed } = createSseDecoder(input);
    return toJson({ items: list(input["chunks"]).flatMap((chunk) => feed(text(chunk))) });
  }
  try {
    return { text: encodeFrame(input) };
  } catch (error) {
    if (MillraceError.is(error)) return { error: error.code };
    throw error;
  }
}

function encodeFrame(input: JsonObject): string {
  if (input["comment"] !== undefined) return encodeSseComment(text(input["comment"]));
  return encodeSse(record(input["event"]) as unknown as SseEvent);
}
