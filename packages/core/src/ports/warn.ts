/** The codes of warnings. Node silences one by `--disable-warning=<code>`. */
export type WarningCode =
  /** A run failed, and nothing in its sender's process read how it ended. */
  | "MILLRACE_RUN_FAILED"
  /** A session is driven without a log, so no other process sees what is being written. */
  | "MILLRACE_NO_LOG"
  /** A hub reads another log than the one that a session is written with. */
  | "MILLRACE_OTHER_LOG";

/** What is used of the global `process`, where there is one. */
interface WarningProcess {
  emitWarning?: (
    message: string,
    options: { readonly type: string; readonly code: string },
  ) => void;
}

/** Emits a warning on the process. Without effect in an engine without `process.emitWarning`. */
export function warn(code: WarningCode, message: string): void {
  const { process } = globalThis as { readonly process?: WarningProcess };
  process?.emitWarning?.(message, { type: "MillraceWarning", code });
}
