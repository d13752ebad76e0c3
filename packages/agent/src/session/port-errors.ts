import { MillraceError } from "@millrace/core";
import { redactedMessage, redactError } from "@millrace/core/secrets";

/** Wraps an error of a store or a log for users, without secrets. A `MillraceError` stays as it is. */
export function brokenPort(error: unknown): MillraceError {
  if (MillraceError.is(error)) return error;
  const message = `the store or the log failed: ${redactedMessage(error)}`;
  return new MillraceError("broken_port", message, { cause: redactError(error) });
}

/** For an input whose sender stopped while it could not be stored. */
export function unsent(cause: unknown): MillraceError {
  const message =
    "the sender stopped while the store was away: the input is not known to be stored";
  return new MillraceError("aborted", message, { cause: redactError(cause) });
}
