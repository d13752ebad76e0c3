import { isDeepStrictEqual } from "node:util";
import { apply, emptyState, restore } from "@millrace/core/reading";
import { publicFact } from "@millrace/core/wire";
import type { Fact, SessionState } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import type { Followed } from "@millrace/core/reading";
import { mark } from "./forgery.ts";

/** A viewer of a session that keeps what it received. */
export class RecordingViewer {
  readonly facts = new Map<number, Fact>();
  /** Messages with something forged in them. */
  forged = 0;
  /** Messages that do not fit onto what was shown before. */
  misfits = 0;
  /** How often a subscription broke and was made anew. */
  joins = 0;
  /** True if it ended before `leave` was called. */
  ended = false;
  state: SessionState;
  readonly #watch: (signal: AbortSignal) => AsyncIterable<Followed>;
  readonly #leave = new AbortController();
  readonly #watching: Promise<void>;

  constructor(
    { uid, sessionId }: Pick<SessionRecord, "uid" | "sessionId">,
    watch: (signal: AbortSignal) => AsyncIterable<Followed>,
  ) {
    this.state = emptyState(uid, sessionId);
    this.#watch = watch;
    this.#watching = this.#run();
  }

  /** Facts that it was shown and that are not what the store has. */
  untrue(stored: readonly Fact[]): readonly Fact[] {
    return [...this.facts.values()].filter((fact) => {
      const own = stored[fact.n - 1];
      // A viewer is given less of some: not the agent's instructions.
      return own === undefined || !isDeepStrictEqual(publicFact(fact), publicFact(own));
    });
  }

  async leave(): Promise<void> {
    this.#leave.abort();
    await this.#watching;
  }

  async #run(): Promise<void> {
    const { signal } = this.#leave;
    while (!signal.aborted && !this.ended) {
      this.joins += 1;
      try {
        for await (const { message } of this.#watch(signal)) this.#take(message);
        this.ended = !signal.aborted;
      } catch {
        this.facts.clear(); // joins anew, and is shown everything again
      }
    }
  }

  #take(message: Followed["message"]): void {
    if (JSON.stringify(message).includes(mark)) this.forged += 1;
    if ("closedLanes" in message) {
      this.state = restore(message);
      return;
    }
    const applied = apply(this.state, message);
    if (applied.verdict === "gap") this.misfits += 1;
    this.state = applied.state;
    if ("n" in message) this.facts.set(message.n, message);
  }
}
