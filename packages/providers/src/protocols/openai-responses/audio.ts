import { decodeBase64 } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import { textAt } from "../read.ts";
import type { Edit } from "./state.ts";

/** The vendor does not send the format. Streamed speech is always raw samples. */
const mediaType = "audio/pcm";

/** Appends sound or its transcript. Both belong to the response, not to an item. */
export function appendAudio(edit: Edit, data: JsonObject): void {
  const bytes = decodeBase64(textAt(data, "delta") ?? "");
  if (bytes === undefined) {
    edit.fail("protocol", "a piece of sound is not base64");
    return;
  }
  const partId = edit.book.audio ?? edit.begin({ kind: "media", mediaType });
  edit.book = { ...edit.book, audio: partId };
  edit.add({ op: "append_bytes", partId, chunk: bytes });
}

export function appendTranscript(edit: Edit, data: JsonObject): void {
  const delta = textAt(data, "delta") ?? "";
  if (delta === "") return;
  const partId = edit.book.transcript ?? edit.begin({ kind: "text" });
  if (edit.book.transcript === undefined) edit.describe(partId, { transcript: true });
  edit.book = { ...edit.book, transcript: partId };
  edit.append(partId, delta);
}

export function closeAudio(edit: Edit): void {
  if (edit.book.audio !== undefined) edit.close(edit.book.audio);
  edit.book = { ...edit.book, audio: undefined };
}

export function closeTranscript(edit: Edit): void {
  if (edit.book.transcript !== undefined) edit.close(edit.book.transcript);
  edit.book = { ...edit.book, transcript: undefined };
}
