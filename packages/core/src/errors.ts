/** Why Millrace threw. Closed: a new code is a change of the public contract. */
export type ErrorCode =
  /** A string that can't be an id: empty, too long, or not well-formed. */
  | "invalid_id"
  /** A part of an epoch is out of its bits, or not a whole number. */
  | "invalid_epoch"
  /** An SSE field that would forge a frame. */
  | "invalid_frame"
  /** Data that is not a legal batch or fact, handed to a port by its caller. */
  | "invalid_event"
  /** The session that a port was asked for does not exist. */
  | "unknown_session"
  /** A blob was removed while it was read. */
  | "unknown_blob"
  /** A log was used for a session whose key it was not given. */
  | "missing_key"
  /** A session of this name exists already. */
  | "session_exists"
  /** Something was used after it was closed. */
  | "closed"
  /** A scripted model was asked for more replies than its script has. */
  | "script_exhausted"
  /** Another process writes this session: one of the two has to close it. */
  | "session_locked"
  /** What is stored of a session is damaged in the middle and can't be trusted. */
  | "corrupt_session"
  /** An agent or a tool is described in a way that can't work. */
  | "invalid_definition"
  /** A port answered what it never should: the store or the log is broken. */
  | "broken_port"
  /** What was sent to a session was not accepted: it came too late, or names nothing that is there. */
  | "refused"
  /** The run's answer was asked for, and the model's vendor failed. */
  | "provider_failed"
  /** The run's answer was asked for, and the processes that had the run were killed, one after the other. */
  | "driver_lost"
  /** The run's answer was asked for, and the agent's own code failed: a hook, a responder. */
  | "agent_failed"
  /** The run's answer was asked for, and it has not the shape that was asked for. */
  | "invalid_output"
  /** The run's answer was asked for, and a limit ended it before. */
  | "limit_reached"
  /** The run's answer was asked for, and it was stopped. */
  | "aborted";

/**
 * The one error that Millrace throws, for broken contracts only: what fails outside (a model, a
 * network, a tool) is data. Branch on `code`, never on `message`.
 */
export class MillraceError extends Error {
  override readonly name = "MillraceError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Also true for an error made by another copy of this package, where `instanceof` is not. */
  static is(value: unknown): value is MillraceError {
    return value instanceof Error && value.name === "MillraceError" && "code" in value;
  }
}
