import type { Cause, MillraceError, RunEvent, RunId, Usage } from "@millrace/core";
import type { AnyTools, EventOf, NarrationOf } from "@millrace/core/reading";
import type { Acceptance, Sent } from "./input.ts";

interface Ended {
  /** The text of the last item that the run wrote, whole or not. */
  readonly text: string;
  /** What all its attempts used, sub-agents included. */
  readonly usage: Usage;
}

/** How a run ended. Failures of the outside are here, not thrown. */
export type RunResult<Output = string> =
  | (Ended & { readonly outcome: "completed"; readonly output: Output })
  | (Ended & { readonly outcome: "aborted" })
  | (Ended & { readonly outcome: "limited"; readonly limit: string })
  | (Ended & {
      readonly outcome: "failed";
      readonly error: MillraceError;
      /** The failure's own code and words, such as a vendor's. Left out if the run never began. */
      readonly cause?: Cause;
    });

/**
 * From an accepted input until nothing is left to do. It goes on whether or not anyone iterates it;
 * each iteration starts at its beginning, and leaving one stops nothing. All functions are bound.
 */
export interface Run<Tools extends AnyTools = AnyTools, Output = string> extends AsyncIterable<
  EventOf<Tools>
> {
  readonly id: RunId;
  /** Settles once its prompt is stored, or refused; never rejects. */
  readonly accepted: Promise<Acceptance>;
  /** Always settles, never rejects. */
  readonly result: Promise<RunResult<Output>>;
  /** The answer. Throws a `MillraceError` when the run ended otherwise. */
  readonly text: () => Promise<string>;
  /** The flat story: text as it is written, tools as they run. */
  readonly narrate: () => AsyncIterable<NarrationOf<Tools>>;
  /** The first event of a type. Rejects if the run ends without it. */
  readonly until: <Type extends RunEvent["type"]>(
    type: Type,
  ) => Promise<Extract<EventOf<Tools>, { readonly type: Type }>>;
  /** Stops this run and keeps what came. May be called again, and after the end, which changes nothing. */
  readonly abort: (reason?: string) => Sent;
}
