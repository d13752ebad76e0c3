import { MillraceError } from "../errors.ts";
import { redactedMessage, redactError } from "../secrets/redact-data.ts";
import { diskRefusal } from "../ports/disk-refusal.ts";
import type { Actor } from "../event/event.ts";
import type { ApprovalId, InputId, RunId } from "../ids.ts";

/** Why nothing was stored. Closed: a new reason is a change of the public contract. */
export type Refusal =
  /** A key, an id, an actor or the content is malformed. The same call never succeeds. */
  | "invalid"
  /** The key was used for another input. A new input needs a new key. */
  | "key_reused"
  /** Too late: the input is an item, or the question or the call was answered otherwise. */
  | "settled"
  /** The session, input, question or call does not exist. */
  | "unknown"
  /** The question is about something else than the caller was shown. */
  | "hash_mismatch"
  /** The store failed. With the same key the call may be repeated for ever. */
  | "failed";

/** A call that stored nothing. Branch on `reason`; `error` has a message to show. */
export interface Refused {
  readonly accepted: false;
  readonly reason: Refusal;
  readonly error: MillraceError;
}

/** What became of an input. It is stored; `n` is the number of its fact. */
export interface Posted {
  readonly accepted: true;
  readonly inputId: InputId;
  /** The run that a prompt begins. The loop decides which run takes another input. */
  readonly runId?: RunId;
  readonly n: number;
  /** True for a repeat: this is the first call's answer again. */
  readonly replayed: boolean;
}

/** What became of a decision: the one that is stored, with its actor. */
export interface Decided {
  readonly accepted: true;
  readonly approvalId: ApprovalId;
  readonly decision: "allow" | "deny";
  readonly actor?: Actor;
  readonly n: number;
  readonly replayed: boolean;
}

/** What became of a stop. */
export interface Stopped {
  readonly accepted: true;
  /**
   * The run that stops, or that never begins. Left out if no run was on and no prompt waited: then
   * nothing was stored.
   */
  readonly runId?: RunId;
  readonly replayed: boolean;
}

export function refuse(reason: Refusal, message: string): Refused {
  return { accepted: false, reason, error: new MillraceError("refused", message) };
}

/** An error that was thrown before or in the store's call, as a refusal. */
export function refusedBy(error: unknown): Refused {
  if (MillraceError.is(error)) return { accepted: false, reason: reasonOf(error), error };
  const refused = diskRefusal(error);
  const what = refused === undefined ? redactedMessage(error) : `${refused}, and send again`;
  const broken = new MillraceError("broken_port", `nothing is known to be stored: ${what}`, {
    cause: redactError(error),
  });
  return { accepted: false, reason: "failed", error: broken };
}

function reasonOf({ code }: MillraceError): Refusal {
  if (code === "invalid_id" || code === "invalid_event") return "invalid";
  return code === "unknown_session" ? "unknown" : "failed";
}
