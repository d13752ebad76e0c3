const field = "error:";
const standard = "event: error\ndata:";

/**
 * Rewrites the lines by which llama.cpp reports a failure in a stream, in a field of its own, to the
 * event that other servers send. The parser of events drops fields that it does not know. Text may be
 * cut anywhere: up to five letters that may begin such a line wait for the next piece.
 */
export class ErrorLines {
  #held = "";
  #isLineStart = true;

  read(piece: string): string {
    let text = this.#held + piece;
    this.#held = "";
    const last = text.slice(-field.length);
    const begin = last.lastIndexOf("\n") + 1;
    const isShort = begin > 0 || (this.#isLineStart && text.length < field.length);
    if (isShort && begin < last.length && field.startsWith(last.slice(begin))) {
      this.#held = last.slice(begin);
      text = text.slice(0, -this.#held.length);
    }
    if (this.#isLineStart && text.startsWith(field)) text = standard + text.slice(field.length);
    if (text !== "") this.#isLineStart = text.endsWith("\n");
    return text.includes(`\n${field}`) ? text.replaceAll(`\n${field}`, `\n${standard}`) : text;
  }
}
