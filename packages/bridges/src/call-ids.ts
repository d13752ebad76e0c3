import { callId } from "@millrace/core/model";
import type { CallId } from "@millrace/core";
import { chooseCallId } from "@millrace/providers/protocol-kit";

/** Gives calls ids that are unique in a run, and maps the framework's ids to them. */
export class CallIds {
  readonly #taken: Set<string>;
  readonly #latest = new Map<string, CallId>();

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** Returns the id for a new call. */
  choose(given: string): CallId {
    const id = chooseCallId(given, this.#taken);
    this.#taken.add(id);
    this.#latest.set(given, id);
    return id;
  }

  /** Returns the id of the latest call that has this id in the framework. */
  answered(given: string): CallId {
    const known = this.#latest.get(given);
    return known ?? callId(given === "" ? "call" : given.slice(-200).toWellFormed());
  }
}
