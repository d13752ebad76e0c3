/**
 * Decodes bytes that are cut at any place. One instance per stream, because a character may be cut.
 */
export class Utf8Reader {
  /** True once bytes that are not UTF-8 were replaced by U+FFFD. */
  lossy = false;
  // Not the decoder's streaming mode: it is slower, and can't report replaced bytes.
  readonly #strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #lenient = new TextDecoder("utf-8", { ignoreBOM: true });
  #held: Uint8Array = nothing;

  read(bytes: Uint8Array): string {
    const all = this.#held.length === 0 ? bytes : join(this.#held, bytes);
    const cut = all.length - unfinished(all);
    // A copy, because the caller may reuse its buffer.
    this.#held = cut === all.length ? nothing : all.slice(cut);
    return this.#decode(cut === all.length ? all : all.subarray(0, cut));
  }

  end(): string {
    const rest = this.#held;
    this.#held = nothing;
    return this.#decode(rest);
  }

  #decode(bytes: Uint8Array): string {
    if (bytes.length === 0) return "";
    try {
      return this.#strict.decode(bytes);
    } catch {
      this.lossy = true;
      return this.#lenient.decode(bytes);
    }
  }
}

const nothing: Uint8Array = new Uint8Array(0);

function join(left: Uint8Array, right: Uint8Array): Uint8Array {
  const joined = new Uint8Array(left.length + right.length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
}

/** The number of bytes at the end that begin a character which may still be completed. */
function unfinished(bytes: Uint8Array): number {
  const last = bytes.length - 1;
  for (let back = 0; back < 3 && back <= last; back += 1) {
    const byte = bytes[last - back] as number;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue; // a continuation byte
    return sizeFrom(byte) > back + 1 && isPrefix(bytes, last - back) ? back + 1 : 0;
  }
  return 0;
}

function sizeFrom(lead: number): number {
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/** True if the second byte is allowed after its lead. Overlong forms and surrogates are not. */
function isPrefix(bytes: Uint8Array, at: number): boolean {
  const second = bytes[at + 1];
  if (second === undefined) return true;
  switch (bytes[at]) {
    case 0xe0:
      return second >= 0xa0;
    case 0xed:
      return second < 0xa0;
    case 0xf0:
      return second >= 0x90;
    case 0xf4:
      return second < 0x90;
    default:
      return true;
  }
}
