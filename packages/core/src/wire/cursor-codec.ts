import type { LanePosition } from "../event/batch.ts";
import type { Cursor } from "../event/cursor.ts";
import { isSessionUid } from "../ids.ts";

/** Cursors travel in a header; servers refuse longer ones. */
const maxCursorLength = 256;

/**
 * The cursor as an opaque text of letters, digits and `_-.~`. It never grows above its limit: lanes
 * that don't fit are left out, and a reader that resumes is sent those lanes from their beginning.
 */
export function encodeCursor(cursor: Cursor): string {
  let text = `1.${cursor.uid}.${cursor.head.toString(36)}`;
  for (const place of cursor.lanes) {
    const position = `.${positionText(place)}`;
    if (text.length + position.length > maxCursorLength) break;
    text += position;
  }
  return text;
}

/** A place in a lane as it stands in a cursor. */
export function positionText({ lane, epoch, seq }: LanePosition): string {
  return `${lane.toString(36)}~${epoch.toString(36)}~${seq.toString(36)}`;
}

/** The cursor, or undefined for any other text. A client without a cursor is sent a snapshot. */
export function decodeCursor(text: string): Cursor | undefined {
  if (text.length > maxCursorLength) return undefined;
  const [version, uid = "", head = "", ...rest] = text.split(".");
  const count = decodeNumber(head);
  if (version !== "1" || !isSessionUid(uid) || count === undefined) return undefined;
  const lanes: LanePosition[] = [];
  for (const position of rest) {
    const [lane, epoch, seq, ...more] = position.split("~").map(decodeNumber);
    if (lane === undefined || epoch === undefined || seq === undefined || more.length > 0)
      return undefined;
    if (lane <= (lanes.at(-1)?.lane ?? -1)) return undefined;
    lanes.push({ lane, epoch, seq });
  }
  return { uid, head: count, lanes };
}

/** One spelling for each number, so that equal cursors are equal texts. */
function decodeNumber(text: string): number | undefined {
  const value = /^[0-9a-z]{1,11}$/.test(text) ? Number.parseInt(text, 36) : Number.NaN;
  return Number.isSafeInteger(value) && value.toString(36) === text ? value : undefined;
}
