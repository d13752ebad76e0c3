import { MillraceError } from "@millrace/core";

/** Wraps an error of a store or a log for users. A `MillraceError` stays as it is. */
export function brokenPort(error: unknown): MillraceError {
  if (MillraceError.is(error)) return error;
  const message = `the store or the log failed: ${messageOf(error)}`;
  return new MillraceError("broken_port", message, { cause: error });
}

/** For an input whose sender stopped while it could not be stored. */
export function unsent(cause: unknown): MillraceError {
  const message =
    "the sender stopped while the store was away: the input is not known to be stored";
  return new MillraceError("aborted", message, { cause });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
