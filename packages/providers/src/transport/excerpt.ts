/** The first bytes of a body, for its error message. */
export class Excerpt {
  #bytes: Uint8Array = new Uint8Array(0);

  /** False once enough is there. */
  add(bytes: Uint8Array): boolean {
    const room = limit - this.#bytes.length;
    if (room > 0) {
      const joined = new Uint8Array(this.#bytes.length + Math.min(room, bytes.length));
      joined.set(this.#bytes);
      joined.set(bytes.subarray(0, room), this.#bytes.length);
      this.#bytes = joined;
    }
    return this.#bytes.length < limit;
  }

  text(): string {
    return new TextDecoder().decode(this.#bytes);
  }
}

const limit = 16 * 1024;
