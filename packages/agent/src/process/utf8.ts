import { isUtf8 } from "node:buffer";

/**
 * Bytes to text, piece by piece, so that a character cut in two by a pipe is read whole. The joined
 * text is what one decoding of all bytes would give. Unlike `TextDecoder` it reports whether bytes were
 * lost: a replacement character alone doesn't, because a process may have written one.
 */
export class Utf8Reader {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #held: Uint8Array = new Uint8Array(0);
  /** True once a byte was not UTF-8 and became a replacement character. */
  lossy = false;

  /** The text that is certain by now. At most three bytes are held back. */
  read(bytes: Uint8Array): string {
    const joined = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const whole = joined.length - cutLength(joined);
    // A copy: the caller may reuse its buffer.
    this.#held = joined.slice(whole);
    return this.#decode(joined.subarray(0, whole));
  }

  /** The rest: a character that was never finished. */
  end(): string {
    const rest = this.#held;
    this.#held = new Uint8Array(0);
    return this.#decode(rest);
  }

  #decode(bytes: Uint8Array): string {
    if (!isUtf8(bytes)) this.lossy = true;
    return this.#decoder.decode(bytes);
  }
}

/** How many bytes at the end are the beginning of a character whose other bytes have not come. */
export function cutLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < sequenceLength(byte) ? back : 0;
  }
  return 0;
}

/** How many bytes at the beginning belong to a character whose first byte is not there. */
export function orphanLength(bytes: Uint8Array): number {
  let count = 0;
  while (count < Math.min(3, bytes.length) && ((bytes[count] ?? 0) & 0xc0) === 0x80) count += 1;
  return count;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
