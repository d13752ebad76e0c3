/**
 * Characters that a person doesn't see and a model reads: controls, format characters with their
 * direction marks and tags, fillers, and selectors of variants. Tab and newline are no such.
 */
const hidden =
  /[[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Variation_Selector}\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0]--[\t\n]]+/gv;

/**
 * Where such a character is part of writing: it joins two pictures, asks for a picture's colours, or
 * stands between two letters of a script that is joined. Only one, or the two together, is kept.
 */
const joinsPictures = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Emoji_Component}]$/v;
const joinsLetters = /[[\p{L}\p{M}]--[\p{scx=Latn}\p{scx=Cyrl}\p{scx=Grek}]]$/v;
const startsLetter = /^[\p{L}\p{M}]/v;

/**
 * Foreign text as a person can read it: hidden characters are taken out, and a note in their place
 * gives their number. Line ends are newlines, and halves of surrogate pairs are
 * replaced. Linear in the text. Text that shows all it has comes back as it is.
 */
export function visibleText(text: string): string {
  const lines = text.toWellFormed().replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, "\n");
  return lines.replaceAll(hidden, (run, at: number) =>
    isWriting(run, lines, at) ? run : `[${countOf(run)} left out]`,
  );
}

function isWriting(run: string, text: string, at: number): boolean {
  // Two units are enough for the last character, whichever plane it is on.
  const before = text.slice(Math.max(0, at - 2), at);
  if (run === "\uFE0F" || run === "\u200D" || run === "\uFE0F\u200D") {
    if (joinsPictures.test(before)) return true;
  }
  if (run !== "\u200C" && run !== "\u200D") return false;
  return joinsLetters.test(before) && startsLetter.test(text.slice(at + 1, at + 3));
}

function countOf(run: string): string {
  const count = Array.from(run).length;
  return count === 1 ? "1 hidden character" : `${count} hidden characters`;
}

const encoder = new TextEncoder();

/**
 * The beginning of a text, and a note of how much is missing. What is kept has
 * at most that many UTF-8 bytes, the note not counted, and ends between two characters.
 */
export function cappedText(text: string, limitBytes: number): string {
  // Each unit has at most 3 bytes, so short text need not be counted.
  if (text.length * 3 <= limitBytes) return text;
  const room = new Uint8Array(limitBytes);
  const { read } = encoder.encodeInto(text, room);
  if (read === text.length) return text;
  const missing = encoder.encode(text.slice(read)).length;
  return `${text.slice(0, read)}\n[${missing} bytes left out]`;
}

/** Foreign text on one line, for use inside a sentence of ours. */
export function oneLine(text: string, limitBytes: number): string {
  // Cut first, so that a long text costs no more than a short one; twice, because notes add to it.
  const start = text.slice(0, limitBytes * 4);
  return cappedText(visibleText(start).replaceAll(/\s+/g, " ").trim(), limitBytes).replaceAll(
    "\n",
    " ",
  );
}
