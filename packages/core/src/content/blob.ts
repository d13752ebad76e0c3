import type { Part } from "./part.ts";

/** Names bytes that are kept apart from the session, by their content. It opens nothing by itself. */
export interface BlobRef {
  /** `sha256-` and the SHA-256 of the bytes in 64 lower-case hexadecimal digits. */
  readonly hash: string;
  /** In bytes. */
  readonly size: number;
}

/** True for a text that is the hash of a blob, in the one form that they have. */
export function isBlobHash(text: unknown): text is string {
  return typeof text === "string" && /^sha256-[0-9a-f]{64}$/.test(text);
}

/** The blobs that parts name, each once, in the order in which they are named first. */
export function findBlobs(parts: Iterable<Part>): readonly BlobRef[] {
  const found = new Map<string, BlobRef>();
  for (const part of parts) {
    if (part.kind !== "media" && part.kind !== "file") continue;
    if (part.blob !== undefined && !found.has(part.blob.hash)) {
      found.set(part.blob.hash, part.blob);
    }
  }
  return [...found.values()];
}
