import { createHash } from "node:crypto";
import type { Reading } from "./reading.ts";

/** One field of one stream in which another reader's result is not ours. */
export interface Difference {
  readonly stream: string;
  readonly contender: string;
  readonly field: keyof Reading;
  readonly ours: string;
  readonly theirs: string;
}

const content = ["text", "reasoning", "calls", "stop", "usage"] as const;

/**
 * The fields that are compared. What a failed reading holds differs by interface, so of two readings
 * only the failure is compared if one of them failed.
 */
export function comparedFields(ours: Reading, theirs: Reading): readonly (keyof Reading)[] {
  return ours.failed || theirs.failed ? ["failed"] : ["failed", ...content];
}

export function differencesOf(
  { stream, contender }: Pick<Difference, "stream" | "contender">,
  ours: Reading,
  theirs: Reading,
): readonly Difference[] {
  return comparedFields(ours, theirs)
    .map((field) => ({
      stream,
      contender,
      field,
      ours: shown(ours[field]),
      theirs: shown(theirs[field]),
    }))
    .filter((difference) => difference.ours !== difference.theirs);
}

const longest = 60;

/** The value as JSON. A long one is cut, with a hash of the whole, so that a change is still seen. */
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= longest) return text;
  return `${text.slice(0, longest)}… ${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
}
