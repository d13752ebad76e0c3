import { fits, headEnd, tailStart, utf8Length } from "../text-bytes.ts";

/** What was left out of a text, in UTF-8 bytes. */
export interface Cut {
  readonly total: number;
  readonly leftOut: number;
  /** Where it begins in the whole. */
  readonly offset: number;
}

/**
 * A text of at most `limitBytes`: its beginning and its end, with a note between them of what
 * is missing. The note counts; a limit too small for it gives the note alone. Cuts fall between
 * characters. What fits, or is no longer than the note would be, comes back as it is.
 */
export function headAndTail(text: string, limitBytes: number, note: (cut: Cut) => string): string {
  if (fits(text, limitBytes)) return text;
  const total = utf8Length(text);
  // With the largest numbers, so that the true ones need no more room.
  const noteBytes = utf8Length(note({ total, leftOut: total, offset: total }));
  if (noteBytes >= total) return text;
  const room = Math.max(0, limitBytes - noteBytes);
  const head = text.slice(0, headEnd(text, Math.ceil(room / 2)));
  const offset = utf8Length(head);
  const tail = text.slice(tailStart(text, room - offset));
  return `${head}${note({ total, leftOut: total - offset - utf8Length(tail), offset })}${tail}`;
}
