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
/** Letters, marks, ideographs and plain emoji; not those that join others, choose a form or came late to Unicode. */
const settled =
  /^(?:[\u0300-\u052f\u1e00-\u1fff\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]|(?!\p{Regional_Indicator}|\p{Emoji_Modifier}|[\u{1fa70}-\u{1faff}])\p{Emoji_Presentation})$/u;
const narrowest = /^(?:\p{Mn}|\p{Me}|\p{Cf})$/u;

/** Near enough for most text. Terminals differ among themselves in the rest. */
export function widthOf(character: string): number {
  if (plain.test(character)) return 1;
  if (narrowest.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** Whether all terminals give the character the same width, as far as is known. */
export function isCertainWidth(character: string): boolean {
  return plain.test(character) || settled.test(character);
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
