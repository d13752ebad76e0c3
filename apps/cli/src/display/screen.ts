import { OpenLine } from "./open-line.ts";
import { styled, verbatimMark } from "./text-output.ts";
import type { TextStyle, TextOutput } from "./text-output.ts";
import { cutRows, cutTo, textWidth } from "./wrap.ts";
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

/** What was printed since the last paint. `rows` are whole. */
type Printed =
  | { readonly text: string; readonly style: TextStyle }
  | { readonly rows: readonly string[]; readonly style: TextStyle };

/**
 * A terminal's last rows. Text is written without line feeds of ours: the terminal wraps it, so that what
 * is copied from it has none, and so that it is wrapped anew when the terminal changes its size. What was
 * written stays; only the rows below it and the line being typed are drawn anew. Gives the bytes for it and
 * writes none itself.
 */
export class Screen implements TextOutput {
  readonly #size: () => Size;
  readonly #color: boolean;
  #printed: Printed[] = [];
  /** The last line of the text, as far as it is on the terminal. */
  readonly #open: OpenLine;
  #style: TextStyle = "plain";
  /** Whether the text that was printed last is in a line that is not ended. */
  #isInText = false;
  /** The widths of the rows that were drawn last below the text, down to the cursor's. */
  #drawn: readonly number[] = [];

  constructor(size: () => Size, color: boolean) {
    this.#size = size;
    this.#color = color;
    this.#open = new OpenLine(this.#terminalColumns());
  }

  readonly text = (text: string, style: TextStyle): void => {
    if (text === "") return;
    this.#printed.push({ text, style });
    this.#isInText = !text.endsWith("\n");
  };

  readonly endText = (): void => {
    if (this.#isInText) this.#printed.push({ text: "\n", style: "plain" });
    this.#isInText = false;
  };

  readonly line = (text: string, style: TextStyle): void => {
    this.endText();
    this.#printed.push({ rows: [text], style });
  };

  readonly verbatim = (text: string, style: TextStyle): void => {
    this.endText();
    const columns = this.#columns() - verbatimMark.length;
    const rows = cutRows(text, columns).map((row) => verbatimMark + row);
    this.#printed.push({ rows, style });
  };

  /** The bytes that bring the terminal up to date. */
  paint(footer: Footer): string {
    const columns = this.#columns();
    const text = this.#erase() + this.#write();
    const below = this.#open.isEmpty ? "" : "\r\n";
    // What does not fit on the screen could not be erased again.
    const room = Math.max(1, this.#size().rows - 3);
    const rows = footer.rows.slice(-room).map((row) => ({
      style: row.style,
      text: cutTo(row.text, columns),
    }));
    const typed = typedRow(footer, columns);
    this.#drawn = [...rows.map((row) => textWidth(row.text)), typed.cursor];
    const live = rows.map((row) => `${this.#styled(row.text, row.style)}\r\n`).join("");
    const cursor = typed.cursor === 0 ? "" : `\u001b[${typed.cursor}C`;
    return `${text}${below}${live}${typed.row}\r${cursor}`;
  }

  /** The bytes that leave only the text. */
  leave(): string {
    this.endText();
    const text = this.#erase() + this.#write();
    this.#drawn = [];
    return text;
  }

  /** Drops the record of what was drawn, after another program has written to the terminal. */
  forget(): void {
    this.#drawn = [];
  }

  /** The last column of rows that are redrawn stays empty: terminals differ in what they do with a full row. */
  #columns(): number {
    return this.#terminalColumns() - 1;
  }

  #terminalColumns(): number {
    return Math.max(10, this.#size().columns);
  }

  /** Erases what is below the text, and returns to its end. */
  #erase(): string {
    const columns = this.#terminalColumns();
    this.#open.resize(columns);
    // The row of text that was lost is written again.
    if (this.#drawn.length === 0) return this.#styled(this.#open.row, this.#style);
    // A terminal that became narrower has folded the rows.
    const above = this.#drawn
      .slice(0, -1)
      .reduce((sum, width) => sum + heightOf(width, columns), 0);
    const folded = heightOf(this.#drawn.at(-1) ?? 0, columns) - 1;
    const up = above + folded + (this.#open.isEmpty ? 0 : 1);
    const { column, again } = this.#open.returnTo();
    const go = (up > 0 ? `\u001b[${up}A` : "") + (column > 0 ? `\u001b[${column}C` : "");
    return `\r${go}\u001b[J${this.#styled(again, this.#style)}`;
  }

  /** Writes what was printed since the last paint. */
  #write(): string {
    const printed = this.#printed;
    this.#printed = [];
    return printed
      .map((piece) => ("rows" in piece ? this.#rows(piece) : this.#append(piece)))
      .join("");
  }

  #rows({ rows, style }: Extract<Printed, { readonly rows: unknown }>): string {
    return rows.map((row) => `${this.#styled(row, style)}\r\n`).join("");
  }

  #append({ text, style }: Extract<Printed, { readonly text: unknown }>): string {
    if (text !== "\n") this.#style = style;
    return this.#open
      .write(text)
      .map((run) => this.#styled(run, style))
      .join("\r\n");
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
