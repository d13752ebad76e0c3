import type { ItemId } from "@millrace/core";
import type { Doing } from "../loop/state.ts";

/** A piece of work that takes long. */
export type Work = (signal: AbortSignal) => Promise<void>;

/** What a piece of work threw. */
export interface Thrown {
  readonly error: unknown;
}

/** The works of a driver that are under way, each with the signal that stops it. */
export class UnderWay {
  readonly #held: () => number | undefined;
  readonly #onEnd: (thrown: Thrown | undefined, held: number | undefined) => Promise<void>;
  readonly #calls = new Map<ItemId, AbortController>();
  readonly #works = new Set<Promise<void>>();
  #reply: AbortController | undefined;
  #compaction: AbortController | undefined;
  /** The assessment under way. One left behind, by a hook that never answers, is not waited for. */
  #assessing: object | undefined;

  /** `onEnd` is called after each work, with what it threw and the incarnation it was begun under. */
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

  /** What is assessed is of no use any more. */
  leaveAssessing(): void {
    this.#assessing = undefined;
  }

  stop(reason?: unknown): void {
    for (const work of this.#all()) work.abort(reason);
  }

  /** Settles when all works have. */
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
