import type { ItemId } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import type { Doing } from "../loop/state.ts";
import { Fenced } from "../work/host.ts";
import { SentPrefix } from "../work/sent-prefix.ts";
import { TurnMemory } from "./turn-memory.ts";

/** Work that runs beside the loop. Its signal aborts when the run stops or the claim is lost. */
export type Work = (signal: AbortSignal) => Promise<void>;

/** A reply, a compaction, or the call whose result has this reserved id. */
export type WorkKind = "reply" | "compaction" | ItemId;

/** The error that a work rejected with. */
export interface Thrown {
  readonly error: unknown;
}

/** The part of `Doing` that is about work in progress. */
export type WorkInProgress = Pick<
  Doing,
  "reply" | "compaction" | "assessing" | "calls" | "interrupted"
>;

/** How long closing waits for each of its steps. */
const closingMs = 5_000;

/**
 * What this process does for one session and has not stored: the works in progress, each with the signal
 * that stops it, and the memory of the turn. The inline driver has one, and so has the driver of an
 * engine's steps, for all of its steps together.
 */
export class SessionWork {
  readonly memory: TurnMemory = new TurnMemory();
  readonly sent: SentPrefix = new SentPrefix();
  /** The incarnation under which this process works, if it does. */
  readonly held: () => number | undefined;
  readonly #clock: Clock;
  readonly #onEnd: (thrown: Thrown | undefined, held: number | undefined) => Promise<void>;
  readonly #closing = new AbortController();
  readonly #stops = new Map<WorkKind, AbortController>();
  readonly #works = new Set<Promise<void>>();
  /** The current assessment. One that was abandoned, because a hook never settles, is not waited for. */
  #assessing: object | undefined;

  /** `onEnd` is called after each work, with its error and the incarnation that was held at its start. */
  constructor(
    clock: Clock,
    held: () => number | undefined,
    onEnd: (thrown: Thrown | undefined, held: number | undefined) => Promise<void>,
  ) {
    this.#clock = clock;
    this.held = held;
    this.#onEnd = onEnd;
  }

  /** Aborted when the session is closed in this process. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  begin(kind: WorkKind, work: Work): void {
    this.#stops.set(
      kind,
      this.#run(work, () => this.#stops.delete(kind)),
    );
  }

  beginAssessing(work: () => Promise<void>): void {
    const assessing = {};
    this.#assessing = assessing;
    this.#run(work, () => {
      if (this.#assessing === assessing) this.#assessing = undefined;
    });
  }

  /** Abandons the current assessment: its turn is over. Its hooks may still run; their result is ignored. */
  leaveAssessing(): void {
    this.#assessing = undefined;
  }

  stop(reason?: unknown): void {
    for (const work of this.#stops.values()) work.abort(reason);
  }

  /** Stops work in progress without recording it: the next driver continues from the facts. */
  abandon(): void {
    this.stop(new Fenced());
    this.memory
      .takeFailed()
      ?.drop()
      .catch(() => undefined); // its lane may be another writer's by now
  }

  /** Abandons the work for good. It is over after `ended`. */
  close(): void {
    this.#closing.abort();
    this.abandon();
  }

  /** Waits until all work has ended. Not for work that ignores its signal: it can no longer record anything. */
  async ended(): Promise<void> {
    await this.atMost(Promise.all(this.#works));
  }

  /** Waits for a step of closing, for 5 s at most. */
  async atMost(ending: Promise<unknown>): Promise<void> {
    const done = new AbortController();
    await Promise.race([ending, this.#clock.sleep(closingMs, done.signal)]);
    done.abort(); // a pending timer would keep the process alive
  }

  doing(): WorkInProgress {
    const calls = new Set<ItemId>();
    for (const kind of this.#stops.keys())
      if (kind !== "reply" && kind !== "compaction") calls.add(kind);
    const works = [...this.#stops.values()];
    return {
      reply: this.#stops.has("reply"),
      compaction: this.#stops.has("compaction"),
      assessing: this.#assessing !== undefined,
      calls,
      interrupted: works.length > 0 && works.every((work) => work.signal.aborted),
    };
  }

  #run(work: Work, end: () => unknown): AbortController {
    const stop = new AbortController();
    const held = this.held();
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
