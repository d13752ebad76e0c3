const fence = /^ {0,3}(?:```|~~~)/gm;
const delimiter = /^\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$/;

/**
 * A text that is being written, without the beginning of a table at its end: until the row below the header is
 * whole, Markdown takes it for a paragraph, and a reader would see its marks. Linear.
 */
export function holdTable(text: string): string {
  const blank = text.lastIndexOf("\n\n");
  const start = blank < 0 ? 0 : blank + 2;
  if (text[start] !== "|") return text;
  const inCode = (text.slice(0, start).match(fence)?.length ?? 0) % 2 === 1;
  const [, row, after] = text.slice(start).split("\n", 3);
  const isTable = row !== undefined && after !== undefined && delimiter.test(row);
  return inCode || isTable ? text : text.slice(0, start);
}
