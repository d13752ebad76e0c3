import { isCertainWidth, textWidth, widthOf } from "./wrap.ts";

const tabWidth = 4;

/**
 * The line of text that is being written on a terminal. It has no line feeds of ours: the terminal wraps
 * it. This holds where the terminal has its end, so that the text can go on there after other rows were
 * drawn below it. A row with a character whose width terminals disagree about is ended one column early by
 * a line feed, so that a wrong guess never moves the rows after it.
 */
export class OpenLine {
  #columns: number;
  /** Since the last line feed. */
  #text = "";
  /** The last row of it, as the terminal has it. */
  #row = "";
  #width = 0;
  #isCertain = true;

  constructor(columns: number) {
    this.#columns = columns;
  }

  get isEmpty(): boolean {
    return this.#row === "";
  }

  /** The last row. */
  get row(): string {
    return this.#row;
  }

  /** Follows a terminal that wraps the line anew. Costs by the line's length, if the width has changed. */
  resize(columns: number): void {
    if (columns === this.#columns) return;
    this.#columns = columns;
    const text = this.#text;
    this.end();
    this.write(text);
  }

  /** Appends text. Returns it as it is to be written, in runs with a line feed between each two. */
  write(text: string): readonly string[] {
    const runs: string[] = [];
    let run = "";
    const feed = (): void => {
      runs.push(run);
      run = "";
      this.end();
    };
    for (const character of text) {
      if (character === "\n") {
        feed();
        continue;
      }
      const blanks = " ".repeat(tabWidth - (this.#width % tabWidth));
      for (const one of character === "\t" ? blanks : [character]) {
        if (!this.#makeRoom(one)) feed();
        this.#append(one);
        run += one;
      }
    }
    return [...runs, run];
  }

  /** The line is over; the next text begins a row. */
  end(): void {
    this.#text = "";
    this.#row = "";
    this.#width = 0;
    this.#isCertain = true;
  }

  /**
   * How the terminal's cursor gets back to the end of the text from another place in its last row: the
   * column to go to, and the text to write again from there. A full row is completed by writing its last
   * character again, for only then does the terminal wrap what follows.
   */
  returnTo(): { readonly column: number; readonly again: string } {
    if (!this.#isCertain) return { column: 0, again: this.#row };
    if (this.#width < this.#columns) return { column: this.#width, again: "" };
    const again = /\P{M}\p{M}*$/u.exec(this.#row)?.[0] ?? this.#row;
    return { column: this.#width - textWidth(again), again };
  }

  /** Whether the character may follow without a line feed: it fits, or the terminal wraps before it. */
  #makeRoom(character: string): boolean {
    const wanted = widthOf(character);
    if (wanted === 0 || this.#width === 0) return true;
    const isCertain = this.#isCertain && isCertainWidth(character);
    if (this.#width + wanted <= (isCertain ? this.#columns : this.#columns - 1)) return true;
    // Before what follows a full row, the terminal wraps whatever its width is.
    if (!isCertain && !(this.#isCertain && this.#width === this.#columns)) return false;
    this.#row = "";
    this.#width = 0;
    this.#isCertain = true;
    return true;
  }

  #append(character: string): void {
    this.#text += character;
    this.#row += character;
    this.#width += widthOf(character);
    this.#isCertain &&= isCertainWidth(character);
  }
}
