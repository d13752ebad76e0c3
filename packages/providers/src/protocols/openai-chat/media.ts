import { decodeBase64, isJsonObject } from "@millrace/core/json";
import { partId } from "@millrace/core/model";
import type { Json, JsonObject } from "@millrace/core";
import type { Operation } from "../../protocol.ts";
import { objectOf, textOf } from "./events.ts";
import { beginPending, appendText } from "./parts.ts";
import type { OpenaiChatState } from "./state.ts";

/**
 * The only format that the vendor streams: 16 bits, little-endian, 24 kHz, one channel, no header.
 */
const audioType = "audio/pcm";

/** Reads sound in base64 and its transcript. Returns undefined if the sound can't be decoded. */
export function takeAudio(
  state: OpenaiChatState,
  operations: Operation[],
  audio: JsonObject,
): OpenaiChatState | undefined {
  let next = state;
  const transcript = textOf(audio["transcript"]);
  if (transcript !== "") next = appendText(next, operations, "transcript", transcript);
  const data = textOf(audio["data"]);
  const known = next.audio;
  const metadata = { ...known?.metadata, ...labelsOf(audio) };
  // The first piece may have the id and no sound.
  if (data === "") return { ...next, audio: { id: undefined, held: "", ...known, metadata } };
  if (known?.id === undefined) next = beginPending(next, operations);
  const letters = (known?.held ?? "") + data;
  const border = letters.length - (letters.length % 4);
  const bytes = decodeBase64(letters.slice(0, border));
  if (bytes === undefined) return undefined;
  const id = known?.id ?? partId(`p${next.parts + 1}`);
  if (known?.id === undefined) {
    operations.push({ op: "begin_part", partId: id, kind: "media", mediaType: audioType });
    next = { ...next, parts: next.parts + 1 };
  }
  if (bytes.length > 0) operations.push({ op: "append_bytes", partId: id, chunk: bytes });
  return { ...next, audio: { id, held: letters.slice(border), metadata } };
}

function labelsOf(audio: JsonObject): JsonObject {
  const labels: Record<string, Json> = {};
  const id = textOf(audio["id"]);
  if (id !== "" && id.length <= 200 && id.isWellFormed()) labels["id"] = id;
  if (Number.isSafeInteger(audio["expires_at"])) labels["expires_at"] = audio["expires_at"] ?? null;
  return labels;
}

/** Closes the sound. The vendor keeps it under an id for a limited time. */
export function closeAudio(state: OpenaiChatState, operations: Operation[]): OpenaiChatState {
  const { id, metadata = {} } = state.audio ?? {};
  if (id === undefined) return state;
  if (Object.keys(metadata).length > 0) {
    operations.push({ op: "set_metadata", partId: id, metadata: { audio: metadata } });
  }
  operations.push({ op: "close_part", partId: id });
  return { ...state, audio: undefined };
}

const dataUrl = /^data:([^;,]{1,100});base64,/;

/**
 * Reads an image that the model made (OpenRouter), in one piece. Returns undefined if it can't be
 * decoded.
 */
export function takeImage(
  state: OpenaiChatState,
  operations: Operation[],
  image: Json,
): OpenaiChatState | undefined {
  if (!isJsonObject(image)) return state;
  const url = textOf(objectOf(image["image_url"])?.["url"]);
  if (url === "" || !url.isWellFormed()) return state;
  const head = dataUrl.exec(url);
  const bytes = head === null ? undefined : decodeBase64(url.slice(head[0].length));
  if (head !== null && bytes === undefined) return undefined;
  const next = beginPending(state, operations);
  const id = partId(`p${next.parts + 1}`);
  // A URL does not contain the type.
  const mediaType = head?.[1] ?? "image/*";
  operations.push({ op: "begin_part", partId: id, kind: "media", mediaType });
  if (bytes !== undefined) operations.push({ op: "append_bytes", partId: id, chunk: bytes });
  operations.push({ op: "close_part", partId: id, ...(bytes === undefined ? { url } : {}) });
  return { ...next, parts: next.parts + 1 };
}
