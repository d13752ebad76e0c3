import { MillraceError } from "@millrace/core";
import { diskRefusal } from "@millrace/core/checks";
import { redactedMessage, redactError } from "@millrace/core/secrets";

/** Wraps an error of a store or a log for users, without secrets. A `MillraceError` stays as it is. */
export function brokenPort(error: unknown): MillraceError {
  if (MillraceError.is(error)) return error;
  const message = `the store or the log failed: ${redactedMessage(error)}`;
  return new MillraceError("broken_port", message, { cause: redactError(error) });
}

/** For a run whose facts the store's disk refuses. */
export function unstored(error: unknown): MillraceError {
  const message = `what the run does can't be stored, and it goes on once it can: ${diskRefusal(error) ?? redactedMessage(error)}`;
  return new MillraceError("broken_port", message, { cause: redactError(error) });
}

/** Throws an error that is not waited for if a disk has refused an input: its sender can act, and send again. */
export function throwIfRefused(error: unknown): never {
  const refused = diskRefusal(error);
  if (refused === undefined) throw error;
  const message = `nothing is known to be stored: ${refused}, and send again`;
  throw new MillraceError("broken_port", message, { cause: redactError(error) });
}

/** For an input whose sender stopped while it could not be stored. */
export function unsent(cause: unknown): MillraceError {
  const message =
    "the sender stopped while the store was away: the input is not known to be stored";
  return new MillraceError("aborted", message, { cause: redactError(cause) });
}
