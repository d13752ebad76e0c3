import { MillraceError } from "@millrace/core";
import { warn } from "@millrace/core/checks";
import { redactedMessage } from "@millrace/core/secrets";
import { Problem, notFound } from "../http/problem.ts";

/** The problem that an error is answered with. What is ours is reported, with the request's id. */
export function problemOf(error: unknown, requestId: string): Problem {
  if (error instanceof Problem) return error;
  if (MillraceError.is(error)) {
    const known = ofCode(error);
    if (known !== undefined) return known;
  } else if (!isBug(error)) {
    const detail = "the store does not answer; nothing was stored: repeat the request";
    return new Problem("store_unavailable", detail, { retryAfter: 2 });
  }
  warn("MILLRACE_REQUEST_FAILED", `request ${requestId} failed: ${redactedMessage(error)}`);
  return new Problem("internal", "the server failed; it was reported with this instance");
}

function ofCode({ code }: MillraceError): Problem | undefined {
  switch (code) {
    case "unknown_session":
      return notFound();
    case "session_exists":
      return new Problem("session_exists", "a session of this name exists: choose another name");
    case "session_locked":
      return new Problem("locked", "another process holds this session: close it there");
    case "corrupt_session":
      return new Problem("quarantined", "stored facts are damaged: export what can be read");
    case "closed":
      return new Problem("overloaded", "the server is closing: repeat", { retryAfter: 1 });
    default:
      return undefined;
  }
}

/** What the engine throws for a mistake in a program. All else comes from outside: a store that is away. */
function isBug(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  );
}
