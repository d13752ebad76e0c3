import { cutLength, orphanLength, Utf8Reader } from "./utf8.ts";

/** What was kept of one output of a process: its beginning, its end, and the truth about the rest. */
export interface CapturedOutput {
  /** The beginning; all of it, if nothing was omitted. */
  readonly head: string;
  /** The end. Empty if nothing was omitted. */
  readonly tail: string;
  /** How many bytes the process wrote, as far as they were read. */
  readonly bytes: number;
  /** How many of them, between head and tail, were not kept. */
  readonly omittedBytes: number;
  /** True if some byte of the whole, kept or not, was not UTF-8. */
  readonly lossy: boolean;
}

/**
 * Keeps the beginning and the end of an output of any length in memory of at most `limitBytes`, half
 * for each. Linear in what is written, however small the pieces.
 */
export class OutputBuffer {
  readonly #reader = new Utf8Reader();
  readonly #half: number;
  readonly #head: Ring;
  readonly #tail: Ring;
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#half = Math.max(0, Math.floor(limitBytes / 2));
    this.#head = new Ring(this.#half);
    this.#tail = new Ring(this.#half);
  }

  /** Takes the next bytes and gives the text that is certain by now. */
  write(bytes: Uint8Array): string {
    const room = Math.max(0, this.#half - this.#bytes);
    this.#head.write(bytes.subarray(0, room));
    this.#tail.write(bytes.subarray(room));
    this.#bytes += bytes.length;
    return this.#reader.read(bytes);
  }

  /** Nothing more comes: the text that was held back. */
  end(): string {
    return this.#reader.end();
  }

  kept(): CapturedOutput {
    const { lossy } = this.#reader;
    const bytes = this.#bytes;
    const head = this.#head.bytes();
    const tail = this.#tail.bytes();
    if (bytes <= head.length + tail.length) {
      const whole = decode(Buffer.concat([head, tail]));
      return { head: whole, tail: "", bytes, omittedBytes: 0, lossy };
    }
    // A character that the cap cuts in two is omitted whole, so the cap itself loses nothing.
    const first = head.subarray(0, head.length - cutLength(head));
    const last = tail.subarray(orphanLength(tail));
    const omittedBytes = bytes - first.length - last.length;
    return { head: decode(first), tail: decode(last), bytes, omittedBytes, lossy };
  }
}

/** The last bytes of what is written to it. Its memory grows with what it holds, up to the cap. */
class Ring {
  readonly #cap: number;
  #buffer = new Uint8Array(0);
  #written = 0;

  constructor(cap: number) {
    this.#cap = cap;
  }

  write(given: Uint8Array): void {
    // Of more than the cap only the end stays; the rest counts as written, so the place fits.
    const skipped = Math.max(0, given.length - this.#cap);
    const bytes = given.subarray(skipped);
    this.#grow(this.#written + given.length);
    this.#written += skipped;
    const at = this.#cap === 0 ? 0 : this.#written % this.#cap;
    const first = bytes.subarray(0, this.#cap - at);
    this.#buffer.set(first, at);
    this.#buffer.set(bytes.subarray(first.length), 0);
    this.#written += bytes.length;
  }

  bytes(): Uint8Array {
    if (this.#written <= this.#cap) return this.#buffer.subarray(0, this.#written);
    const at = this.#cap === 0 ? 0 : this.#written % this.#cap;
    return Buffer.concat([this.#buffer.subarray(at), this.#buffer.subarray(0, at)]);
  }

  #grow(needed: number): void {
    if (this.#buffer.length >= Math.min(needed, this.#cap)) return;
    const grown = new Uint8Array(Math.min(this.#cap, Math.max(needed, this.#buffer.length * 2)));
    grown.set(this.#buffer);
    this.#buffer = grown;
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
