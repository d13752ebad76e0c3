/** The first bytes of a body, for its error message. Costs as much as it keeps, however small the pieces. */
export class Excerpt {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  /** False once enough is there. Takes a copy: the bytes may be used again by whoever read them. */
  add(bytes: Uint8Array): boolean {
    const piece = bytes.slice(0, limit - this.#length);
    if (piece.length > 0) this.#pieces.push(piece);
    this.#length += piece.length;
    return this.#length < limit;
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

const limit = 16 * 1024;
