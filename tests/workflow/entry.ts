import { callsToRemember, decide, standingOfOutlines } from "@millrace/agent/loop";
import type { CallVerdict, Doing, LoopSettings, Outline } from "@millrace/agent/loop";
import type { ItemId, ResultStatus } from "@millrace/core";

/**
 * All that a decision rests on, as JSON can hold it: the outlines of a prefix of a history, and the rest
 * of the state. No fact with its content reaches the sandbox.
 */
export interface Moment {
  readonly outlines: readonly Outline[];
  readonly settings: LoopSettings;
  readonly doing: Omit<Doing, "calls" | "verdicts" | "answers"> & {
    readonly calls: readonly ItemId[];
    readonly verdicts: readonly (readonly [ItemId, CallVerdict])[];
    readonly answers: readonly (readonly [ItemId, ResultStatus])[];
  };
  readonly now: number;
}

/** Decides as a workflow would. Text in and out: a sandbox shares no object with its host. */
export function decideText(moment: string): string {
  const { outlines, settings, doing, now } = JSON.parse(moment) as Moment;
  const action = decide({
    standing: standingOfOutlines(outlines, callsToRemember(settings)),
    settings,
    doing: {
      ...doing,
      calls: new Set(doing.calls),
      verdicts: new Map(doing.verdicts),
      answers: new Map(doing.answers),
    },
    now,
  });
  return JSON.stringify(action);
}
