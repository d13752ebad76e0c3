import type { Fact, ItemId } from "@millrace/core";
import { standingOf } from "../../packages/agent/src/loop/advance.ts";
import { decide } from "../../packages/agent/src/loop/decide.ts";
import type { Doing, LoopSettings, Verdict } from "../../packages/agent/src/loop/state.ts";

/** All that a decision rests on, as JSON can hold it: a prefix of a history, and the rest of the state. */
export interface Moment {
  readonly facts: readonly Fact[];
  readonly settings: LoopSettings;
  readonly doing: Omit<Doing, "calls" | "verdicts"> & {
    readonly calls: readonly ItemId[];
    readonly verdicts: readonly (readonly [ItemId, Verdict])[];
  };
  readonly now: number;
}

/** Decides as a workflow would. Text in and out: a sandbox shares no object with its host. */
export function decideText(moment: string): string {
  const { facts, settings, doing, now } = JSON.parse(moment) as Moment;
  const action = decide({
    standing: standingOf(facts),
    settings,
    doing: { ...doing, calls: new Set(doing.calls), verdicts: new Map(doing.verdicts) },
    now,
  });
  return JSON.stringify(action);
}
