import type { Fact, Item } from "@millrace/core";

/**
 * What the facts up to one number mean, folded here anew and without core's code, so that a mistake
 * in that fold is seen and not repeated.
 */
export interface Truth {
  readonly incarnation: number;
  /** Runs that stand, this one included. */
  readonly runs: number;
  readonly run: string | undefined;
  /** Turns of this run. */
  readonly turns: number;
  /** The turn under way. */
  readonly turn: string | undefined;
  readonly aborting: boolean;
  readonly items: readonly Item[];
  readonly queue: readonly string[];
  readonly executions: readonly string[];
  /** Inputs that were accepted, whatever became of them. */
  readonly inputs: number;
  /** Calls of the last reply. */
  readonly calls: number;
}

const nothing: Truth = {
  incarnation: 0,
  runs: 0,
  run: undefined,
  turns: 0,
  turn: undefined,
  aborting: false,
  items: [],
  queue: [],
  executions: [],
  inputs: 0,
  calls: 0,
};

/** The truth at each head of a session. Facts are only ever added. */
export class Truths {
  readonly facts: Fact[] = [];
  readonly #at: Truth[] = [nothing];
  #standing: Fact[] = [];

  get now(): Truth {
    return this.at(this.facts.length);
  }

  at(head: number): Truth {
    return this.#at[head] ?? nothing;
  }

  add(fact: Fact): void {
    this.facts.push(fact);
    const to = fact.type === "session_claimed" ? fact.to : undefined;
    if (to !== undefined) {
      this.#standing = this.#standing.filter((past) => past.n <= to || isSaid(past));
    }
    this.#standing.push(fact);
    const next =
      to === undefined
        ? step(this.#at.at(-1) ?? nothing, fact)
        : this.#standing.reduce(step, nothing);
    this.#at.push(next);
  }
}

function isSaid(fact: Fact): boolean {
  return fact.type === "input_accepted" && fact.input.kind !== "abort";
}

function step(truth: Truth, fact: Fact): Truth {
  switch (fact.type) {
    case "session_claimed":
      return { ...truth, incarnation: fact.incarnation };
    case "input_accepted":
      if (fact.input.kind === "abort") return { ...truth, aborting: truth.run !== undefined };
      return { ...truth, inputs: truth.inputs + 1, queue: [...truth.queue, fact.inputId] };
    case "run_started":
      return { ...truth, runs: truth.runs + 1, run: fact.runId, turns: 0, aborting: false };
    case "run_finished":
      return { ...truth, run: undefined, turn: undefined, aborting: false, executions: [] };
    case "turn_started":
      return { ...truth, turns: truth.turns + 1, turn: fact.turnId, calls: 0 };
    case "turn_finished":
      return { ...truth, turn: undefined };
    case "item_committed":
    case "item_replaced": {
      const place = truth.items.findIndex((item) => item.id === fact.item.id);
      const calls = fact.item.parts.filter((part) => part.kind === "tool_call").length;
      return {
        ...truth,
        items:
          fact.type === "item_replaced" && place >= 0
            ? truth.items.with(place, fact.item)
            : [...truth.items, fact.item],
        queue: truth.queue.filter((input) => input !== fact.inputId),
        calls: fact.item.author === "model" ? calls : truth.calls,
      };
    }
    case "tool_execution_started":
      return { ...truth, executions: [...without(truth, fact.callId), fact.callId] };
    case "tool_execution_finished":
      return { ...truth, executions: without(truth, fact.callId) };
    default:
      return truth;
  }
}

function without(truth: Truth, call: string): readonly string[] {
  return truth.executions.filter((execution) => execution !== call);
}
