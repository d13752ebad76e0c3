/**
 * Bytes as one chunk of HTTP/1.1: their length, they, and their end, in one piece, so that a socket takes
 * them by one write. Made once for all connections that are written the same bytes.
 */
export function chunkOf(bytes: Uint8Array): Uint8Array {
  if (last.bytes === bytes) return last.chunk;
  const chunk = chunks.get(bytes)?.deref() ?? makeChunk(bytes);
  last = { bytes, chunk };
  return chunk;
}

/** What is shorter is made again for less than it costs to remember it. */
const rememberFrom = 1_024;

/** Weak: chunks that are no longer being sent go with the next garbage collection. */
const chunks = new WeakMap<Uint8Array, WeakRef<Uint8Array>>();
const nothing = new Uint8Array();
/** Most connections are written what the one before was. */
let last: { readonly bytes: Uint8Array; readonly chunk: Uint8Array } = {
  bytes: nothing,
  chunk: nothing,
};

function makeChunk(bytes: Uint8Array): Uint8Array {
  const size = `${bytes.length.toString(16)}\r\n`;
  const chunk = Buffer.allocUnsafe(size.length + bytes.length + 2);
  chunk.write(size, 0, "latin1");
  chunk.set(bytes, size.length);
  chunk.write("\r\n", chunk.length - 2, "latin1");
  if (bytes.length >= rememberFrom) chunks.set(bytes, new WeakRef<Uint8Array>(chunk));
  return chunk;
}
