import { encodeBase64 } from "@millrace/core/wire";
import type { FilePart, JsonObject, MediaPart } from "@millrace/core";

/** Media types that the vendor reads. It refuses others. */
const readable: ReadonlySet<string> = new Set([
  "application/pdf",
  ...typesOf("image", "heic heif jpeg png webp"),
  ...typesOf("audio", "aac aiff flac m4a mp3 mp4 mpeg ogg opus wav webm x-wav"),
  ...typesOf("video", "3gpp avi mov mp4 mpeg mpg quicktime webm wmv x-flv"),
]);

function typesOf(kind: string, names: string): readonly string[] {
  return names.split(" ").map((name) => `${kind}/${name}`);
}

/**
 * Converts media or a file to a request part. A type that the vendor does not read becomes a text.
 */
export function mediaPart(part: MediaPart | FilePart): JsonObject {
  const mimeType = readableType(part.mediaType);
  if (mimeType === undefined) return standIn(part);
  if (part.bytes !== undefined) {
    if (part.bytes.length === 0) return standIn(part);
    return { inlineData: { mimeType, data: encodeBase64(part.bytes) } };
  }
  const inline = /^data:[^,]*;base64,([A-Za-z0-9+/]+={0,2})$/.exec(part.url)?.[1];
  if (inline !== undefined && inline.length % 4 === 0) {
    return { inlineData: { mimeType, data: inline } };
  }
  if (!/^(?:https?|gs):\/\/\S+$/.test(part.url)) return standIn(part);
  return { fileData: { mimeType, fileUri: part.url } };
}

/** The type in the vendor's spelling. Every text type is sent as plain text. */
function readableType(mediaType: string): string | undefined {
  const [plain = ""] = mediaType.toLowerCase().split(";");
  const type = plain.trim() === "image/jpg" ? "image/jpeg" : plain.trim();
  if (type.startsWith("text/")) return "text/plain";
  return readable.has(type) ? type : undefined;
}

/** A text that describes the part. */
export function standIn(part: MediaPart | FilePart): JsonObject {
  const name = part.kind === "file" ? `file ${part.name}` : "media";
  const content = part.bytes === undefined ? part.url : `${part.bytes.length} bytes`;
  return { text: `[${name}, ${part.mediaType}, ${content.slice(0, 500)}]` };
}
