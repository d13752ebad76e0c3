import { equalJson, parseJson } from "@millrace/core/wire";

/**
 * What a vendor's full text has beyond the streamed one; undefined if they contradict each other.
 * White space around either is no contradiction: some servers trim the full text, and what was
 * streamed can't be taken back.
 */
export function restOf(streamed: string, whole: string): string | undefined {
  if (whole.startsWith(streamed)) return whole.slice(streamed.length);
  const [begun, full] = [streamed.trimStart(), whole.trimStart()];
  if (full.startsWith(begun)) return full.slice(begun.length);
  return begun.trimEnd() === full.trimEnd() ? "" : undefined;
}

/** True if two texts are the same JSON value. Some servers write a call's arguments anew at its end. */
export function isSameJson(left: string, right: string): boolean {
  if (left.trim() === right.trim()) return true;
  const [one, other] = [parseJson(left), parseJson(right)];
  return one.ok && other.ok && equalJson(one.value, other.value);
}
