import { inked, verbatimMark } from "./paper.ts";
import type { Ink, Paper } from "./paper.ts";
import { createWrap, cutRows, cutTo, textWidth, wrapText } from "./wrap.ts";
import type { Line } from "./line-editor.ts";

/** What stands below the text and is redrawn: rows, then the line being typed. */
export interface Below {
  readonly rows: readonly { readonly text: string; readonly ink: Ink }[];
  readonly prompt: string;
  readonly line: Line;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/**
 * A terminal's last rows. What is finished scrolls up and is never touched again; the row of text
 * that is being written, what is below it and the line being typed are drawn anew. Gives the bytes
 * for it and writes none itself.
 */
export class Screen implements Paper {
  readonly #size: () => Size;
  readonly #color: boolean;
  readonly #wrap;
  #finished: string[] = [];
  #ink: Ink = "plain";
  /** The widths of the rows that were drawn last, down to the cursor's. */
  #drawn: readonly number[] = [];

  constructor(size: () => Size, color: boolean) {
    this.#size = size;
    this.#color = color;
    this.#wrap = createWrap(() => this.#columns());
  }

  readonly text = (text: string, ink: Ink): void => {
    this.#ink = ink;
    for (const row of this.#wrap.write(text)) this.#finish(row, ink);
  };

  readonly endText = (): void => {
    for (const row of this.#wrap.end()) this.#finish(row, this.#ink);
  };

  readonly line = (text: string, ink: Ink): void => {
    this.endText();
    const [first = "", ...rest] = wrapText(text, this.#columns());
    this.#finish(first, ink);
    // Behind an indent, so that only the first row of a line of ours is at the edge.
    for (const row of wrapText(rest.join(" "), this.#columns() - 2)) this.#finish(`  ${row}`, ink);
  };

  readonly verbatim = (text: string, ink: Ink): void => {
    this.endText();
    const columns = this.#columns() - verbatimMark.length;
    for (const row of cutRows(text, columns)) this.#finish(verbatimMark + row, ink);
  };

  /** The bytes that bring the terminal up to date. */
  paint(below: Below): string {
    const columns = this.#columns();
    const erase = this.#erase();
    const done = this.#finished.map((row) => `${row}\r\n`).join("");
    this.#finished = [];
    const current = this.#wrap.row();
    const text = current === "" ? [] : [{ text: current, ink: this.#ink }];
    // What does not fit on the screen could not be erased again.
    const room = Math.max(1, this.#size().rows - 3);
    const rows = [...text, ...below.rows].slice(-room).map((row) => ({
      ink: row.ink,
      text: cutTo(row.text, columns),
    }));
    const typed = typedRow(below, columns);
    this.#drawn = [...rows.map((row) => textWidth(row.text)), typed.cursor];
    const live = rows.map((row) => `${this.#inked(row.text, row.ink)}\r\n`).join("");
    const cursor = typed.cursor === 0 ? "" : `\u001b[${typed.cursor}C`;
    return `${erase}${done}${live}${typed.row}\r${cursor}`;
  }

  /** The bytes that leave only what is finished. */
  leave(): string {
    this.endText();
    const erase = this.#erase();
    const done = this.#finished.map((row) => `${row}\r\n`).join("");
    this.#finished = [];
    this.#drawn = [];
    return `${erase}${done}`;
  }

  /** Forgets what was drawn: somebody else has written to the terminal. */
  forget(): void {
    this.#drawn = [];
  }

  /** The last column stays empty: terminals differ in what they do with a full row. */
  #columns(): number {
    return Math.max(10, this.#size().columns) - 1;
  }

  #erase(): string {
    if (this.#drawn.length === 0) return "";
    const { columns } = this.#size();
    // A terminal that became narrower has folded the rows.
    const up = this.#drawn.slice(0, -1).reduce((sum, width) => sum + heightOf(width, columns), 0);
    const folded = heightOf(this.#drawn.at(-1) ?? 0, columns) - 1;
    return `\r${up + folded > 0 ? `\u001b[${up + folded}A` : ""}\u001b[J`;
  }

  #finish(row: string, ink: Ink): void {
    this.#finished.push(this.#inked(row, ink));
  }

  #inked(row: string, ink: Ink): string {
    return this.#color ? inked(row, ink) : row;
  }
}

function heightOf(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / Math.max(1, columns)));
}

/** The line being typed in one row: the part of it around the cursor, line feeds as a sign. */
function typedRow({ prompt, line }: Below, columns: number): { row: string; cursor: number } {
  const signs = (text: string): string => text.replaceAll("\n", "⏎").replaceAll("\t", " ");
  const room = Math.max(4, columns - textWidth(prompt) - 1);
  // Only what can show is looked at: a pasted text may be long.
  let left = signs(line.text.slice(Math.max(0, line.cursor - room), line.cursor));
  while (textWidth(left) > room) left = Array.from(left).slice(1).join("");
  const right = signs(line.text.slice(line.cursor, line.cursor + room));
  const fits = room - textWidth(left);
  const shown = fits > 0 ? cutTo(right, fits) : "";
  return { row: `${prompt}${left}${shown}`, cursor: textWidth(prompt) + textWidth(left) };
}

/** Output without a cursor: a pipe, a file, a terminal that can only print. Text goes out as it comes. */
export function createPlainPaper(write: (text: string) => void): Paper {
  let open = false;
  const endText = (): void => {
    if (open) write("\n");
    open = false;
  };
  return {
    text: (text) => {
      write(text);
      open = !text.endsWith("\n");
    },
    endText,
    line: (text) => {
      endText();
      write(`${text}\n`);
    },
    verbatim: (text) => {
      endText();
      write(`${verbatimMark}${text}\n`);
    },
  };
}
