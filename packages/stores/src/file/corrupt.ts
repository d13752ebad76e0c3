import { MillraceError } from "@millrace/core";
import type { RawLine } from "./scan.ts";

/** The error for a file that is not as it was written. */
export function corrupt(
  path: string,
  { number, at }: Pick<RawLine, "number" | "at">,
  why: string,
): MillraceError {
  return new MillraceError(
    "corrupt_session",
    `the session file ${path} is damaged in line ${number} at byte ${at}: ${why}`,
  );
}
