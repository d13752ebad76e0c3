/** The codes of warnings. Node silences one by `--disable-warning=<code>`. */
export type WarningCode =
  /** A run failed, and nothing in its sender's process read how it ended. */
  | "MILLRACE_RUN_FAILED"
  /** A session is driven without a log, so no other process sees what is being written. */
  | "MILLRACE_NO_LOG"
  /** A hub reads another log than the one that a session is written with. */
  | "MILLRACE_OTHER_LOG"
  /** A registered secret stands in the content of a session. */
  | "MILLRACE_SECRET_IN_CONTENT"
  /** A request to a server failed by a mistake of the server or of what it was given. */
  | "MILLRACE_REQUEST_FAILED"
  /** A server drives runs on a platform that may stop the process after an answer. */
  | "MILLRACE_FROZEN_PLATFORM"
  /** A server drives runs of a tenant whose runs it could not find again after a crash. */
  | "MILLRACE_TENANT_NOT_LISTED"
  /** A server could not report to its driver, or not close it. */
  | "MILLRACE_DRIVER_FAILED"
  /** Processes of tools run without a PID namespace, because the machine gives none. */
  | "MILLRACE_NO_PID_NAMESPACE"
  /** A store uses its database as a role that row-level security does not bind. */
  | "MILLRACE_UNPROTECTED_ROWS";

/** What is used of the global `process`, where there is one. */
interface WarningProcess {
  emitWarning?: (
    message: string,
    options: { readonly type: string; readonly code: string; readonly detail?: string },
  ) => void;
}

/**
 * Emits a warning on the process, with what to do as its detail. Without effect in an engine without
 * `process.emitWarning`.
 */
export function warn(code: WarningCode, message: string, detail?: string): void {
  const { process } = globalThis as { readonly process?: WarningProcess };
  const more = detail === undefined ? {} : { detail };
  process?.emitWarning?.(message, { type: "MillraceWarning", code, ...more });
}
