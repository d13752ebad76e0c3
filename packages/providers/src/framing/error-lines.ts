const lineFeed = 0x0a;
const field = "error:";

/** Longer than a message, and short enough to be copied with each piece. */
const longest = 4_096;

/**
 * Holds a line of the field `error` until all of it is there. llama.cpp reports a failure by such a
 * line, and the parser of events drops an unknown field that comes in pieces. Most pieces end with a
 * line and cost one comparison.
 */
export class ErrorLines {
  #held = "";
  #isLineStart = true;

  /** The text to parse now: the piece, after what was held and without what is held next. */
  read(piece: string): string {
    const text = this.#held === "" ? piece : this.#held + piece;
    const isLineStart = this.#isLineStart;
    this.#held = "";
    this.#isLineStart = text.charCodeAt(text.length - 1) === lineFeed;
    if (this.#isLineStart) return text;
    // `includes` is much faster than `lastIndexOf` on a long line, of which it finds no end.
    const begin = text.includes("\n") ? text.lastIndexOf("\n") + 1 : isLineStart ? 0 : -1;
    if (begin < 0 || !mayBeError(text, begin)) return text;
    this.#held = text.slice(begin);
    this.#isLineStart = true;
    return text.slice(0, begin);
  }
}

function mayBeError(text: string, begin: number): boolean {
  const length = text.length - begin;
  if (length > longest) return false;
  return length < field.length
    ? field.startsWith(text.slice(begin))
    : text.startsWith(field, begin);
}
