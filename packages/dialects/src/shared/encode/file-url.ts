import type { ViewPart } from "@millrace/core";
import { encodeBase64 } from "@millrace/core/wire";

/** Where a page reads a blob of the session. */
export type BlobUrl = (hash: string) => string;

/** The content of a file as a URL: where it is, or itself. Undefined while it is being written. */
export function urlOf(
  part: Pick<Extract<ViewPart, { kind: "media" | "file" }>, "url" | "blob" | "bytes" | "mediaType">,
  blobUrl: BlobUrl,
): string | undefined {
  if (part.url !== undefined) return part.url;
  if (part.blob !== undefined) return blobUrl(part.blob.hash);
  if (part.bytes === undefined) return undefined;
  return `data:${part.mediaType};base64,${encodeBase64(part.bytes)}`;
}
