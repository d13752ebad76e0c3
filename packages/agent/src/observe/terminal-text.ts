/** Converts streamed text to text without effects on a terminal. */
export interface TerminalText {
  /** The printable text of this piece. An incomplete escape sequence at its end is kept for the next. */
  readonly write: (piece: string) => string;
  /** The printable text of the kept end. The next piece starts fresh. */
  readonly end: () => string;
}

/**
 * Makes text of models, tools and files harmless on a terminal. Printable text, line feeds and tabs are
 * unchanged. Colours and cursor movements (`ESC [ … letter`) are removed, because programs write many of
 * them. Every other control character is replaced by its Unicode picture or its number, so that nothing
 * is hidden: a title, a link or a clipboard write becomes plain text. CR LF becomes a line feed; a lone
 * carriage return would overwrite the line, so it is shown. Stateful, because a piece may end inside a
 * sequence.
 */
export function createTerminalText(): TerminalText {
  let held = "";
  return {
    write: (piece) => {
      if (held === "" && !unprintable.test(piece)) return piece;
      const text = held + piece;
      held = undecided.exec(text)?.[0] ?? "";
      return printable(held === "" ? text : text.slice(0, -held.length));
    },
    end: () => {
      const rest = printable(held);
      held = "";
      return rest;
    },
  };
}

/** One line of printable text. Line feeds and tabs become spaces; a long text is cut at its end. */
export function terminalLine(text: string, length = 200): string {
  // Cut first, so that the cost does not depend on the length of the text.
  const line = printable(text.slice(0, 2 * length))
    .replaceAll(/\s+/g, " ")
    .trim();
  const cut = line.length > length || text.length > 2 * length;
  return cut ? `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

/** Control characters, and characters that reorder or end a line in some readers. */
const control =
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]";
const unprintable = new RegExp(control);

/** Bounded in length, so that the kept text is bounded too. */
const sequence = "\\u001b\\[[0-?]{0,32}[ -/]{0,4}";
const unprintables = new RegExp(`${sequence}[@-~]|\\r\\n|${control}`, "g");

/** The end of a piece that may become a sequence or a CR LF together with the next piece. */
const undecided = new RegExp(`(?:\\r|\\u001b|${sequence})$`);

function printable(text: string): string {
  return text.replaceAll(unprintables, (found) => {
    if (found === "\r\n") return "\n";
    return found.length > 1 ? "" : shown(found.charCodeAt(0));
  });
}

/** Unicode has pictures of the ASCII control characters. Others are shown by their number. */
function shown(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/**
 * Starts each line that is not text of a model or a tool. It is replaced in their text, so that they
 * can't forge such a line.
 */
export const noticeMark = "►";

/** Replaces the mark in text of models and tools by a similar character. */
export function withoutNoticeMark(text: string): string {
  return text.replaceAll(noticeMark, "▸");
}
