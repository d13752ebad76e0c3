/** Takes text as it comes and gives text that a terminal only prints. */
export interface TerminalText {
  /** What may be printed of this piece now. The start of a sequence is held until it is decided. */
  readonly write: (piece: string) => string;
  /** What was held. The next piece begins anew. */
  readonly end: () => string;
}

/**
 * Makes text of models, tools and files harmless on a terminal. Only line feeds, tabs and printable
 * text come through. Colours and cursor movements (`ESC [ … letter`), which programs write into their
 * output by the thousand, are dropped. Every other control character is shown by its picture or its
 * number, so that nothing that could be read is hidden: a title, a link, a clipboard write becomes
 * plain text. A line end of Windows becomes a line feed; a lone carriage return, which would write
 * over what stands there, is shown. Stateful, since pieces cut anywhere; other text is as it was.
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

/** One line of printable text: line feeds and tabs are blanks, and too long a text loses its end. */
export function terminalLine(text: string, length = 200): string {
  // Cut first: a megabyte is not looked through for the sake of one line.
  const line = printable(text.slice(0, 2 * length))
    .replaceAll(/\s+/g, " ")
    .trim();
  const cut = line.length > length || text.length > 2 * length;
  return cut ? `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

/** Control characters, and those that reorder a line or end it in some readers. */
const control =
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]";
const unprintable = new RegExp(control);

/** The dropped sequences have a bound, so that what is held and what is dropped have one too. */
const sequence = "\\u001b\\[[0-?]{0,32}[ -/]{0,4}";
const unprintables = new RegExp(`${sequence}[@-~]|\\r\\n|${control}`, "g");

/** At the end of a piece: what may become a dropped sequence, or a line end, by the next one. */
const undecided = new RegExp(`(?:\\r|\\u001b|${sequence})$`);

function printable(text: string): string {
  return text.replaceAll(unprintables, (found) => {
    if (found === "\r\n") return "\n";
    return found.length > 1 ? "" : shown(found.charCodeAt(0));
  });
}

/** Unicode has pictures of the old control characters; the others are named by their number. */
function shown(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/**
 * Begins each line that is not text of a model or a tool. Their text is written without it, so that it
 * can forge none of these lines.
 */
export const noticeMark = "►";

/** Replaces the mark in text that comes from outside by a character that looks alike. */
export function withoutNoticeMark(text: string): string {
  return text.replaceAll(noticeMark, "▸");
}
