/**
 * The first bytes of a body, for its error message. The cost is that of the bytes kept, however
 * small the pieces.
 */
export class Excerpt {
  readonly #limit: number;
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(limit: number = 16 * 1024) {
    this.#limit = limit;
  }

  /**
   * Adds bytes. Returns false once it is full. Copies them, because the caller may reuse its
   * buffer.
   */
  add(bytes: Uint8Array): boolean {
    const piece = bytes.slice(0, this.#limit - this.#length);
    if (piece.length > 0) this.#pieces.push(piece);
    this.#length += piece.length;
    return this.#length < this.#limit;
  }

  text(): string {
    const joined = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      joined.set(piece, at);
      at += piece.length;
    }
    return new TextDecoder().decode(joined);
  }
}
