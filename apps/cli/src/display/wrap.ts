/** Splits text into rows of a terminal as it comes. */
export interface Wrap {
  /** The rows that this text completes. */
  readonly write: (text: string) => readonly string[];
  /** The row that is not complete. */
  readonly row: () => string;
  /** Ends the row; what it was is given back, if it was anything. */
  readonly end: () => readonly string[];
}

const tabWidth = 4;

/**
 * Wraps between words; a word longer than a row is cut. The columns are asked for with each piece,
 * since terminals change their size. Linear: a row is looked at again only when it is full.
 */
export function createWrap(columns: () => number): Wrap {
  let row = "";
  let width = 0;
  const add = (character: string, limit: number): string | undefined => {
    row += character;
    width += widthOf(character);
    if (width <= limit) return undefined;
    const cut = placeToCut(row, character);
    const full = row.slice(0, cut).trimEnd();
    row = row.slice(cut).replace(/^ /, "");
    width = textWidth(row);
    return full;
  };
  return {
    write: (text) => {
      const limit = Math.max(8, columns());
      const rows: string[] = [];
      for (const character of text) {
        if (character === "\n") {
          rows.push(row);
          row = "";
          width = 0;
          continue;
        }
        const blanks = character === "\t" ? tabWidth - (width % tabWidth) : 0;
        for (const one of character === "\t" ? " ".repeat(blanks) : [character]) {
          const full = add(one, limit);
          if (full !== undefined) rows.push(full);
        }
      }
      return rows;
    },
    row: () => row,
    end: () => {
      const rows = row === "" ? [] : [row];
      row = "";
      width = 0;
      return rows;
    },
  };
}

/** Wraps a whole text. */
export function wrapText(text: string, columns: number): readonly string[] {
  const wrap = createWrap(() => columns);
  return [...wrap.write(text), ...wrap.end()];
}

/** Behind the last word that fits, or before the character that does not. */
function placeToCut(row: string, last: string): number {
  const blank = row.lastIndexOf(" ");
  return row.slice(0, Math.max(0, blank)).trim() === "" ? row.length - last.length : blank;
}

/** The columns that a text takes. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** The start of a text that fits, with a mark if something is left out. */
export function cutTo(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let cut = "";
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width >= columns) break;
    cut += character;
  }
  return `${cut}…`;
}

const plain = /^[\u0020-\u02ff\u2010-\u2027\u2190-\u25ff]$/;
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])$/u;
const narrowest = /^(?:\p{Mn}|\p{Me}|\p{Cf})$/u;

/** Near enough for most text. Terminals differ among themselves in the rest. */
function widthOf(character: string): number {
  if (plain.test(character)) return 1;
  if (narrowest.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** Cuts a text into rows that, joined, are the text: nothing is dropped between them. */
export function cutRows(text: string, columns: number): readonly string[] {
  const rows: string[] = [];
  let row = "";
  let width = 0;
  for (const character of text) {
    const wanted = widthOf(character);
    if (width + wanted > Math.max(8, columns)) {
      rows.push(row);
      row = "";
      width = 0;
    }
    row += character;
    width += wanted;
  }
  return row === "" && rows.length > 0 ? rows : [...rows, row];
}
