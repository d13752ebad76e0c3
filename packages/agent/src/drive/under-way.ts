import type { ItemId } from "@millrace/core";
import type { Doing } from "../loop/state.ts";

/** Work that runs beside the loop. Its signal aborts when the run stops or the claim is lost. */
export type Work = (signal: AbortSignal) => Promise<void>;

/** The error that a work rejected with. */
export interface Thrown {
  readonly error: unknown;
}

/** How work is begun beside the loop. */
export type Begins = Pick<
  UnderWay,
  "beginReply" | "beginCompaction" | "beginCall" | "beginAssessing" | "leaveAssessing" | "stop"
>;

/** The work in progress of one driver, each with the signal that stops it. */
export class UnderWay {
  readonly #held: () => number | undefined;
  readonly #onEnd: (thrown: Thrown | undefined, held: number | undefined) => Promise<void>;
  readonly #calls = new Map<ItemId, AbortController>();
  readonly #works = new Set<Promise<void>>();
  #reply: AbortController | undefined;
  #compaction: AbortController | undefined;
  /** The current assessment. One that was abandoned, because a hook never settles, is not waited for. */
  #assessing: object | undefined;

  /** `onEnd` is called after each work, with its error and the incarnation that was held at its start. */
  constructor(
    held: () => number | undefined,
    onEnd: (thrown: Thrown | undefined, held: number | undefined) => Promise<void>,
  ) {
    this.#held = held;
    this.#onEnd = onEnd;
  }

  beginReply(work: Work): void {
    this.#reply = this.#begin(work, () => (this.#reply = undefined));
  }

  beginCompaction(work: Work): void {
    this.#compaction = this.#begin(work, () => (this.#compaction = undefined));
  }

  beginCall(itemId: ItemId, work: Work): void {
    const begun = this.#begin(work, () => this.#calls.delete(itemId));
    this.#calls.set(itemId, begun);
  }

  beginAssessing(work: () => Promise<void>): void {
    const assessing = {};
    this.#assessing = assessing;
    this.#begin(work, () => {
      if (this.#assessing === assessing) this.#assessing = undefined;
    });
  }

  /** Abandons the current assessment: its turn is over. Its hooks may still run; their result is ignored. */
  leaveAssessing(): void {
    this.#assessing = undefined;
  }

  stop(reason?: unknown): void {
    for (const work of this.#all()) work.abort(reason);
  }

  /** Resolves when all work has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#works);
  }

  doing(): Pick<Doing, "reply" | "compaction" | "assessing" | "calls" | "interrupted"> {
    const all = this.#all();
    return {
      reply: this.#reply !== undefined,
      compaction: this.#compaction !== undefined,
      assessing: this.#assessing !== undefined,
      calls: new Set(this.#calls.keys()),
      interrupted: all.length > 0 && all.every((work) => work.signal.aborted),
    };
  }

  #all(): readonly AbortController[] {
    const all = [this.#reply, this.#compaction, ...this.#calls.values()];
    return all.filter((work) => work !== undefined);
  }

  #begin(work: Work, end: () => unknown): AbortController {
    const stop = new AbortController();
    const held = this.#held();
    const ended = async (): Promise<void> => {
      let thrown: Thrown | undefined;
      try {
        await work(stop.signal);
      } catch (error) {
        thrown = { error };
      }
      end();
      await this.#onEnd(thrown, held);
    };
    const working = ended();
    this.#works.add(working);
    void working.then(() => this.#works.delete(working));
    return stop;
  }
}
