const keptBytes = 65_536;

/**
 * Cuts bytes into lines. Holds at most one unfinished line of bounded length, and looks at each byte
 * once.
 */
export class LineBuffer {
  readonly #limitBytes: number;
  #room: Buffer = Buffer.alloc(0);
  #held = 0;
  #isFull = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** True from when a line was too long. No more lines come then. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The lines that these bytes end, without their ends. */
  *push(bytes: Uint8Array): Generator<string, void, undefined> {
    let from = 0;
    while (!this.#isFull) {
      const at = bytes.indexOf(0x0a, from);
      const piece = bytes.subarray(from, at < 0 ? bytes.length : at);
      if (this.#held + piece.length > this.#limitBytes) {
        this.#isFull = true;
        this.#room = Buffer.alloc(0);
        return;
      }
      this.#hold(piece);
      if (at < 0) return;
      from = at + 1;
      yield this.#take();
    }
  }

  #hold(piece: Uint8Array): void {
    const needed = this.#held + piece.length;
    if (needed > this.#room.length) {
      // Doubled, so that a line that comes byte by byte is not copied for each byte.
      const room = Buffer.alloc(Math.max(needed, this.#room.length * 2));
      room.set(this.#room.subarray(0, this.#held));
      this.#room = room;
    }
    this.#room.set(piece, this.#held);
    this.#held = needed;
  }

  #take(): string {
    const text = this.#room.toString("utf8", 0, this.#held);
    // One long line must not hold its memory for as long as the server lives.
    if (this.#room.length > keptBytes) this.#room = Buffer.alloc(0);
    this.#held = 0;
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  }
}
