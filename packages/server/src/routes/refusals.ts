import { MillraceError } from "@millrace/core";
import type { Refused } from "@millrace/core";
import { notFound, Problem } from "../http/problem.ts";

/** What an inbox refused, as the problem that a client gets. */
export function problemOf({ reason, error }: Refused): Problem {
  switch (reason) {
    case "invalid":
      return new Problem("invalid_request", error.message);
    case "key_reused":
    case "settled":
    case "hash_mismatch":
      return new Problem(reason, error.message);
    case "unknown":
      return notFound();
    case "failed":
      return portProblem(error);
    default:
      reason satisfies never;
      return portProblem(error);
  }
}

/** An error of the store or the log, as a problem. Its message may name what is not the caller's. */
export function portProblem(error: unknown): Problem {
  const code = MillraceError.is(error) ? error.code : undefined;
  switch (code) {
    case "session_locked":
      return new Problem("locked", "another process holds this session: close it there");
    case "corrupt_session":
      return new Problem("quarantined", "what is stored of this session is damaged: export it");
    case "unknown_session":
      return notFound();
    case "invalid_id":
    case "invalid_event":
      return new Problem("invalid_request", (error as MillraceError).message);
    default:
      return new Problem("store_unavailable", "nothing is known to be stored: repeat it", {
        retryAfter: 2,
      });
  }
}
