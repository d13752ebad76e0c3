import type { RunId } from "@millrace/core";
import type {
  Acceptance,
  AnyTools,
  EventOf,
  NarrationOf,
  RunResult,
  Sent,
} from "@millrace/core/reading";

export type { RunResult } from "@millrace/core/reading";

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
