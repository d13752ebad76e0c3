import { outline } from "@millrace/agent/loop";
import { simulateSession } from "../../packages/agent/src/testing/decide-laws.ts";
import { Random } from "../kit/random.ts";
import type { Moment } from "./entry.ts";

/** A moment of a simulated session, and what was decided in it. */
export interface Decided {
  /** A `Moment` as JSON. */
  readonly moment: string;
  /** The action as JSON. */
  readonly action: string;
}

/** Draws this many moments, at random points of as many simulated sessions as it takes. */
export function drawMoments(count: number): readonly Decided[] {
  const drawn: Decided[] = [];
  for (let seed = 1; drawn.length < count; seed += 1) {
    const random = new Random(seed);
    simulateSession(seed, ({ state, action }, facts) => {
      if (drawn.length >= count || !random.chance(0.1)) return;
      const { settings, doing, now } = state;
      const { calls, verdicts, answers } = doing;
      const plain = {
        ...doing,
        calls: [...calls],
        verdicts: [...verdicts],
        answers: [...answers],
      };
      const moment: Moment = { outlines: facts.map(outline), settings, doing: plain, now };
      drawn.push({ moment: JSON.stringify(moment), action });
    });
  }
  return drawn;
}
