import type { Fact } from "../event/event.ts";
import type { InputId, RunId } from "../ids.ts";

/** What a store keeps of each session so that its index finds those that have work. */
export interface StoreWork {
  /** The run that is on. */
  readonly run?: RunId | undefined;
  /** The inputs that will begin a run, in their order. */
  readonly queue: readonly WaitingInput[];
  /** The driver that made the last claim. Unset by a claim without a name, and by a release. */
  readonly driver?: string | undefined;
}

/** An input that begins a run when the one before it has ended. */
export interface WaitingInput {
  readonly inputId: InputId;
  readonly kind: "prompt" | "steer" | "follow_up";
}

/** The work of a session without facts. */
export const noWork: StoreWork = { queue: [] };

/** True if a driver is needed: a run is on, or an input waits for one. */
export function hasWork({ run, queue }: StoreWork): boolean {
  return run !== undefined || queue.length > 0;
}

/** The work after these facts. `driver` is the name with which the claim among them was made. */
export function workAfter(before: StoreWork, facts: readonly Fact[], driver?: string): StoreWork {
  return facts.reduce<StoreWork>((work, fact) => next(work, fact, driver), before);
}

function next(work: StoreWork, fact: Fact, driver: string | undefined): StoreWork {
  switch (fact.type) {
    case "session_claimed":
      return { ...work, driver };
    case "session_released":
      return { ...work, driver: undefined };
    case "run_started":
      return { ...work, run: fact.runId };
    case "run_finished": {
      // What was meant for a run that a person stopped does not begin one by itself.
      const queue =
        fact.outcome === "aborted"
          ? work.queue.filter(({ kind }) => kind === "prompt")
          : work.queue;
      return { ...work, run: undefined, queue };
    }
    case "input_accepted": {
      const { inputId, input } = fact;
      if (input.kind === "abort" || input.kind === "answer") return work;
      return { ...work, queue: [...work.queue, { inputId, kind: input.kind }] };
    }
    case "queue_updated":
      return without(work, fact.inputId);
    case "item_committed":
    case "item_replaced":
      return fact.inputId === undefined ? work : without(work, fact.inputId);
    default:
      return work;
  }
}

function without(work: StoreWork, inputId: InputId): StoreWork {
  if (work.queue.every((waiting) => waiting.inputId !== inputId)) return work;
  return { ...work, queue: work.queue.filter((waiting) => waiting.inputId !== inputId) };
}
