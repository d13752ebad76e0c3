/** A terminal of endless height that knows the few sequences that a screen may write. */
export class Vt {
  readonly #rows: string[][] = [[]];
  #row = 0;
  #column = 0;

  write(bytes: string): void {
    const tokens = bytes.match(/\p{Cc}\[\d*[A-Za-z]|[\s\S]/gu) ?? [];
    for (const token of tokens) this.#take(token);
  }

  /** What is on it, without blank rows at the end. */
  text(): string {
    return this.#rows
      .map((row) => row.join("").trimEnd())
      .join("\n")
      .trimEnd();
  }

  #take(token: string): void {
    const [, count = "", letter = ""] = /^\p{Cc}\[(\d*)([A-Za-z])$/u.exec(token) ?? [];
    const times = count === "" ? 1 : Number(count);
    if (letter === "A") this.#row = Math.max(0, this.#row - times);
    else if (letter === "C") this.#column += times;
    else if (letter === "J") this.#clearBelow();
    else if (letter !== "") throw new Error(`a screen does not write ${JSON.stringify(token)}`);
    else if (token === "\r") this.#column = 0;
    else if (token === "\n") this.#row += 1;
    else if (/\p{Cc}/u.test(token))
      throw new Error(`a control character: ${JSON.stringify(token)}`);
    else this.#put(token);
  }

  #put(character: string): void {
    while (this.#rows.length <= this.#row) this.#rows.push([]);
    const row = this.#rows[this.#row] ?? [];
    while (row.length < this.#column) row.push(" ");
    row[this.#column] = character;
    this.#column += 1;
  }

  #clearBelow(): void {
    this.#rows.length = Math.min(this.#rows.length, this.#row + 1);
    const row = this.#rows[this.#row];
    if (row !== undefined) row.length = Math.min(row.length, this.#column);
  }
}
