import type { Cause, MillraceError, RunId, Usage } from "@millrace/core";
import type { AnyTools, EventOf, NarrationOf } from "@millrace/core/reading";
import type { Acceptance, Sent } from "./input.ts";

interface Ended {
  /** The text of the run's last item with text, complete or not. */
  readonly text: string;
  /** The usage of all its attempts, sub-agents included. */
  readonly usage: Usage;
}

/**
 * How a run ended, as data: failures of models, tools and stores are outcomes here and are not thrown.
 * Look at `outcome` before `text`: after a failure `text` is what came until then, and may be empty.
 * `output` is on completed results only, so reading it without a look at `outcome` does not compile.
 * `run.text()` and `run.textStream()` throw instead. If a run failed and the program that sent it reads
 * none of `outcome`, `error` and `cause`, the process gets one warning, `MILLRACE_RUN_FAILED`; the
 * agent's setting `warnings: false` turns it off.
 */
export type RunResult<Output = string> =
  | (Ended & { readonly outcome: "completed"; readonly output: Output })
  | (Ended & {
      readonly outcome: "aborted";
      /** Why it was stopped, as its stopper or its signal gave it: a time-out, for instance. */
      readonly reason?: string;
    })
  | (Ended & { readonly outcome: "limited"; readonly limit: string })
  | (Ended & {
      readonly outcome: "failed";
      readonly error: MillraceError;
      /** The code and message of the failure, such as a vendor's. Left out if the run never began. */
      readonly cause?: Cause;
    });

/**
 * One run of a session: from an accepted input until nothing is left to do. It runs whether or not it
 * is iterated. Each iteration starts with the run's first event, and ending an iteration does not stop
 * the run. All functions are bound.
 */
export interface Run<Tools extends AnyTools = AnyTools, Output = string> extends AsyncIterable<
  EventOf<Tools>
> {
  readonly id: RunId;
  /** Settles once its prompt is stored or refused. Never rejects. */
  readonly accepted: Promise<Acceptance>;
  /**
   * Settles with what the store has of the run, or when the session is closed in this process. Never
   * rejects. While the store is away it waits.
   */
  readonly result: Promise<RunResult<Output>>;
  /** The text of the answer. Rejects with a `MillraceError` if the run did not complete. */
  readonly text: () => Promise<string>;
  /**
   * The text of the answer as it is written. Throws a `MillraceError` at the end if the run did not
   * complete: `code` names why, and `cause` is what its vendor or store reported. Texts of several items
   * are separated by an empty line. Text can't be taken back: where a broken reply is written anew or an
   * item is replaced, the new text follows after an empty line; `narrate` shows which text is void.
   */
  readonly textStream: () => AsyncIterable<string>;
  /**
   * The run as flat events for display: text as it is written, tools as they run. The last one is always
   * `run_finished`, with the outcome of `result` and the cause of a failure.
   */
  readonly narrate: () => AsyncIterable<NarrationOf<Tools>>;
  /** The first event of a type. Rejects if the run ends without it. */
  readonly until: <Type extends EventOf["type"]>(
    type: Type,
  ) => Promise<Extract<EventOf<Tools>, { readonly type: Type }>>;
  /** Stops this run and keeps its content so far. Has no effect on a run that has ended. */
  readonly abort: (reason?: string) => Sent;
}
