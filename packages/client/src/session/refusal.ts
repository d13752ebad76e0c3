import { MillraceError } from "@millrace/core";
import type { ErrorCode } from "@millrace/core";
import type { Acceptance } from "@millrace/core/reading";
import type { Answered, ProblemAnswer } from "../http/requests.ts";

/** Codes of problems that are codes of errors. All others are `refused`, and the problem is the cause. */
const own: readonly ErrorCode[] = ["aborted", "closed", "session_exists", "unknown_blob"];

export function errorOf(problem: ProblemAnswer): MillraceError {
  const code = own.find((known) => known === problem.code) ?? "refused";
  return new MillraceError(code, `${problem.code}: ${problem.detail}`, { cause: problem });
}

/** Whether what was sent is stored. */
export function acceptanceOf(answered: Answered): Acceptance {
  return answered.ok ? { accepted: true } : { accepted: false, error: errorOf(answered.problem) };
}
