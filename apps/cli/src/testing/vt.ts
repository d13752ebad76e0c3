interface Row {
  cells: string[];
  /** Whether the terminal itself went on in the next row, because this one was full. */
  isWrapped: boolean;
}

/**
 * A terminal of endless height that knows the few sequences that a screen may write. It wraps a full row
 * when the next character comes, and wraps its lines anew when its width changes, as terminals do.
 */
export class Vt {
  #columns: number;
  #rows: Row[] = [{ cells: [], isWrapped: false }];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    this.#columns = columns;
  }

  write(bytes: string): void {
    const tokens = bytes.match(/\p{Cc}\[\d*[A-Za-z]|[\s\S]/gu) ?? [];
    for (const token of tokens) this.#take(token);
  }

  /** The lines on it as they are copied: rows that the terminal wrapped are one. Without blanks at their ends. */
  text(): string {
    return this.#lines()
      .map(({ cells }) => cells.join("").trimEnd())
      .join("\n")
      .trimEnd();
  }

  /** How many columns the widest row has. */
  width(): number {
    return Math.max(...this.#rows.map(({ cells }) => cells.length));
  }

  resize(columns: number): void {
    const lines = this.#lines();
    const at = lines.findLastIndex(({ first }) => first <= this.#row);
    const line = lines[at] ?? { cells: [], first: 0 };
    const place = (this.#row - line.first) * this.#columns + this.#column;
    const folded = lines.map(({ cells }) => fold(cells, columns));
    this.#row = folded.slice(0, at).flat().length + Math.floor(place / columns);
    this.#column = place % columns;
    this.#rows = folded.flat();
    this.#columns = columns;
  }

  #lines(): readonly { readonly cells: readonly string[]; readonly first: number }[] {
    const lines: { cells: string[]; first: number }[] = [];
    for (const [at, { cells }] of this.#rows.entries()) {
      if (this.#rows[at - 1]?.isWrapped === true) lines.at(-1)?.cells.push(...cells);
      else lines.push({ cells: [...cells], first: at });
    }
    return lines;
  }

  #take(token: string): void {
    const [, count = "", letter = ""] = /^\p{Cc}\[(\d*)([A-Za-z])$/u.exec(token) ?? [];
    const times = count === "" ? 1 : Number(count);
    const last = this.#columns - 1;
    if (letter === "A") this.#row = Math.max(0, this.#row - times);
    else if (letter === "C") this.#column = Math.min(last, this.#column + times);
    else if (letter === "J") this.#clearBelow();
    else if (letter !== "") throw new Error(`a screen does not write ${JSON.stringify(token)}`);
    else if (token === "\r") this.#column = 0;
    else if (token === "\n") this.#feed(false);
    else if (/\p{Cc}/u.test(token))
      throw new Error(`a control character: ${JSON.stringify(token)}`);
    else this.#put(token);
  }

  #feed(isWrapped: boolean): void {
    const row = this.#rowAt(this.#row);
    if (isWrapped) row.isWrapped = true;
    this.#row += 1;
    this.#rowAt(this.#row);
  }

  #put(character: string): void {
    if (this.#column === this.#columns) {
      this.#feed(true);
      this.#column = 0;
    }
    const { cells } = this.#rowAt(this.#row);
    while (cells.length < this.#column) cells.push(" ");
    cells[this.#column] = character;
    this.#column += 1;
  }

  #rowAt(at: number): Row {
    while (this.#rows.length <= at) this.#rows.push({ cells: [], isWrapped: false });
    return this.#rows[at] ?? { cells: [], isWrapped: false };
  }

  #clearBelow(): void {
    const column = Math.min(this.#column, this.#columns - 1);
    this.#rows.length = Math.min(this.#rows.length, this.#row + 1);
    const row = this.#rowAt(this.#row);
    row.cells.length = Math.min(row.cells.length, column);
    row.isWrapped = false;
  }
}

/** Cuts a line into rows. */
function fold(cells: readonly string[], columns: number): Row[] {
  const count = Math.max(1, Math.ceil(cells.length / columns));
  return Array.from({ length: count }, (_, at) => ({
    cells: cells.slice(at * columns, (at + 1) * columns),
    isWrapped: at < count - 1,
  }));
}
