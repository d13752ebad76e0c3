import { systemClock } from "@millrace/core/memory";
import type { Model } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import { say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";

/** A model that answers at once, but for a reply that it was told to stream. */
export interface Talker {
  readonly model: Model;
  /** The next reply is this one, so many characters at a time. */
  readonly streamNext: (part: ScriptedPart, characters: number) => void;
}

/** Makes a model that streams at a steady pace. */
export function createTalker(perSecond: number): Talker {
  let next: Model | undefined;
  return {
    model: {
      id: "talker",
      stream: (request) => {
        const reply = next ?? scriptedModel([[say("A short answer.\nOf two lines.")]]);
        next = undefined;
        return reply.stream(request);
      },
    },
    streamNext: (part, characters) => {
      const options = { delayMs: 1_000 / perSecond, chunk: [characters], clock: pacedClock() };
      next = scriptedModel([[part]], options);
    },
  };
}

/** A clock whose sleeps follow each other without a drift: what comes late is made up for. */
function pacedClock(): Clock {
  let due: number | undefined;
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms) => {
      due = (due ?? performance.now()) + ms;
      const left = Math.max(0, due - performance.now());
      return new Promise((resolve) => void setTimeout(resolve, left));
    },
    after: systemClock.after,
  };
}
