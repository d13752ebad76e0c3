import type { Cause } from "@millrace/core";

import type { CapturedOutput } from "./output-buffer.ts";

/** How a process ended. Never an exception: whatever becomes of a process is data. */
export type ProcessEnding =
  | { readonly ended: "exited"; readonly code: number }
  /** By a signal that was not ours. */
  | { readonly ended: "signalled"; readonly signal: string }
  | { readonly ended: "aborted" }
  | { readonly ended: "timed_out" }
  | { readonly ended: "failed_to_start"; readonly cause: Cause };

/** How a process ended, its output, and the pids that survived it. */
export type ProcessOutcome = ProcessEnding & {
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** Pids that were found and could not be ended: of another user, or stuck in the kernel. Empty otherwise. */
  readonly survivors: readonly number[];
};
