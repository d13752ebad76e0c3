import { styled, verbatimMark } from "./text-output.ts";
import type { TextStyle, TextOutput } from "./text-output.ts";
import { createWrap, cutRows, cutTo, textWidth, wrapText } from "./wrap.ts";
import type { Line } from "./line-editor.ts";

/** What stands below the text and is redrawn: rows, then the line being typed. */
export interface Footer {
  readonly rows: readonly { readonly text: string; readonly style: TextStyle }[];
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
export class Screen implements TextOutput {
  readonly #size: () => Size;
  readonly #color: boolean;
  readonly #wrap;
  #finished: string[] = [];
  #style: TextStyle = "plain";
  /** The widths of the rows that were drawn last, down to the cursor's. */
  #drawn: readonly number[] = [];

  constructor(size: () => Size, color: boolean) {
    this.#size = size;
    this.#color = color;
    this.#wrap = createWrap(() => this.#columns());
  }

  readonly text = (text: string, style: TextStyle): void => {
    this.#style = style;
    for (const row of this.#wrap.write(text)) this.#finish(row, style);
  };

  readonly endText = (): void => {
    for (const row of this.#wrap.end()) this.#finish(row, this.#style);
  };

  readonly line = (text: string, style: TextStyle): void => {
    this.endText();
    const [first = "", ...rest] = wrapText(text, this.#columns());
    this.#finish(first, style);
    // Indented, so that only the first row of a notice begins at the edge.
    for (const row of wrapText(rest.join(" "), this.#columns() - 2))
      this.#finish(`  ${row}`, style);
  };

  readonly verbatim = (text: string, style: TextStyle): void => {
    this.endText();
    const columns = this.#columns() - verbatimMark.length;
    for (const row of cutRows(text, columns)) this.#finish(verbatimMark + row, style);
  };

  /** The bytes that bring the terminal up to date. */
  paint(footer: Footer): string {
    const columns = this.#columns();
    const erase = this.#erase();
    const done = this.#finished.map((row) => `${row}\r\n`).join("");
    this.#finished = [];
    const current = this.#wrap.row();
    const text = current === "" ? [] : [{ text: current, style: this.#style }];
    // What does not fit on the screen could not be erased again.
    const room = Math.max(1, this.#size().rows - 3);
    const rows = [...text, ...footer.rows].slice(-room).map((row) => ({
      style: row.style,
      text: cutTo(row.text, columns),
    }));
    const typed = typedRow(footer, columns);
    this.#drawn = [...rows.map((row) => textWidth(row.text)), typed.cursor];
    const live = rows.map((row) => `${this.#styled(row.text, row.style)}\r\n`).join("");
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

  /** Drops the record of what was drawn, after another program has written to the terminal. */
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

  #finish(row: string, style: TextStyle): void {
    this.#finished.push(this.#styled(row, style));
  }

  #styled(row: string, style: TextStyle): string {
    return this.#color ? styled(row, style) : row;
  }
}

function heightOf(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / Math.max(1, columns)));
}

/** The line being typed in one row: the part of it around the cursor, line feeds as a sign. */
function typedRow({ prompt, line }: Footer, columns: number): { row: string; cursor: number } {
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
export function createPlainOutput(write: (text: string) => void): TextOutput {
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
