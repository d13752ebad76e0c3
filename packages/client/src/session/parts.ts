import type { BlobLike, Content } from "@millrace/core/reading";

/** Up to so many bytes go with the input itself. */
const inlineBytes = 32 * 1_024;

/** Uploads bytes to a session. Resolves to their hash. */
export type Upload = (bytes: Uint8Array, mediaType: string) => Promise<string>;

/** What is sent of a content: at once if it is text, else after its files were read and uploaded. */
export function contentBody(content: Content, upload: Upload): object | Promise<object> {
  const pieces = typeof content === "string" ? [content] : content;
  if (typeof content === "string") return { text: content };
  const parts = pieces.map((piece, at) =>
    typeof piece === "string" ? { kind: "text", text: piece } : filePart(piece, at, upload),
  );
  if (pieces.every((piece) => typeof piece === "string")) return { parts };
  return allOf(parts);
}

async function allOf(pieces: readonly (object | Promise<object>)[]): Promise<object> {
  return { parts: await Promise.all(pieces.map(async (piece) => await piece)) };
}

/** The text of a content, for the queue on a screen. */
export function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.filter((piece) => typeof piece === "string").join("");
}

async function filePart(file: BlobLike, at: number, upload: Upload): Promise<object> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mediaType = file.type === "" ? "application/octet-stream" : file.type;
  const source =
    bytes.length <= inlineBytes
      ? { bytes: btoa(String.fromCharCode(...bytes)) }
      : { blob: { hash: await upload(bytes, mediaType), size: bytes.length } };
  // As in process: what a person sees or hears is media, all else a file.
  if (/^(image|audio|video)\//.test(mediaType)) return { kind: "media", mediaType, ...source };
  return { kind: "file", name: file.name ?? `file-${at + 1}`, mediaType, ...source };
}
