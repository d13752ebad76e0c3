import { createHash } from "node:crypto";

/** Bytes that are given to one reader, and read to their end whatever it took of them. */
export interface KeptBytes {
  /** Once. Who leaves it early leaves the rest for `hash`. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Reads what is left, and resolves to the name of all of them. Holds one piece at a time. */
  readonly hash: () => Promise<string>;
}

/** Follows bytes on their way, so that their name is known also if nobody stored them. */
export function keptBytes(source: AsyncIterable<Uint8Array>): KeptBytes {
  const pieces = source[Symbol.asyncIterator]();
  const digest = createHash("sha256");
  const next = async (): Promise<Uint8Array | undefined> => {
    const piece = await pieces.next();
    if (piece.done === true) return undefined;
    digest.update(piece.value);
    return piece.value;
  };
  return {
    bytes: {
      async *[Symbol.asyncIterator]() {
        for (let piece = await next(); piece !== undefined; piece = await next()) yield piece;
      },
    },
    hash: async () => {
      while ((await next()) !== undefined);
      return `sha256-${digest.digest("hex")}`;
    },
  };
}
