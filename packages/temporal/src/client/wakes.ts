import type { SessionUid } from "@millrace/core";
import { endlessPause } from "@millrace/core/model";
import type { Clock, SessionDriver } from "@millrace/core/ports";
import { redactError } from "@millrace/core/secrets";
import type { TemporalDriverEvent } from "./options.ts";
import { SentHeads } from "./sent-heads.ts";

/** A session, and the head that Temporal is to know of. */
export type Wake = Parameters<SessionDriver["wake"]>[0];

export interface WakesOptions {
  /** Signals the workflow of a session, and starts it if none runs. */
  readonly send: (wake: Wake) => Promise<void>;
  /** True for an answer of Temporal that is about one session and will not change. */
  readonly isRefusal: (error: unknown) => boolean;
  readonly report: (event: TemporalDriverEvent) => void;
  readonly clock: Pick<Clock, "sleep">;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Signals on their way at once. The rest waits, one entry for each session. */
const mostInFlight = 64;
/** Sessions that wait. Beyond it the oldest is dropped: the sweep finds it in the store. */
const mostWaiting = 10_000;
/** The longest pause while Temporal is away: one try in such a time costs little. */
const longestPauseMs = 2_000;
/** How long `close` waits for what is on its way. */
const closeMs = 5_000;

/**
 * Sends wakes, at most one at a time for a session. Wakes that come meanwhile become one more, with the
 * highest head. While Temporal is away one try is made at a time, with pauses, until it answers.
 */
export class Wakes {
  readonly sentHeads: SentHeads = new SentHeads();
  readonly #options: WakesOptions;
  readonly #waiting = new Map<SessionUid, Wake>();
  readonly #inFlight = new Set<SessionUid>();
  readonly #closing = new AbortController();
  readonly #sentAll = Promise.withResolvers<void>();
  /** Tries in a row that Temporal did not answer. */
  #failures = 0;
  #isPausing = false;

  constructor(options: WakesOptions) {
    this.#options = options;
  }

  add(wake: Wake): void {
    if (this.#closing.signal.aborted || this.sentHeads.has(wake.uid, wake.head)) return;
    this.#enqueue(wake);
    this.#sendNext();
  }

  /** Sends what waits, unless Temporal is away, and resolves when it is sent or could not be. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#failures > 0) this.#waiting.clear();
    this.#sendNext();
    const over = new AbortController();
    const { clock } = this.#options;
    await Promise.race([this.#sentAll.promise, clock.sleep(closeMs, over.signal)]);
    over.abort();
    this.#waiting.clear();
  }

  #enqueue(wake: Wake): void {
    const waits = this.#waiting.get(wake.uid);
    // An entry keeps its place in the queue.
    if (waits === undefined || waits.head < wake.head) this.#waiting.set(wake.uid, wake);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > mostWaiting && oldest !== undefined) this.#waiting.delete(oldest);
  }

  #sendNext(): void {
    const most = this.#failures === 0 ? mostInFlight : 1;
    for (const [uid, wake] of this.#waiting) {
      if (this.#isPausing || this.#inFlight.size >= most) break;
      if (this.#inFlight.has(uid)) continue;
      this.#waiting.delete(uid);
      this.#inFlight.add(uid);
      void this.#send(wake);
    }
    const isIdle = this.#waiting.size === 0 && this.#inFlight.size === 0;
    if (isIdle && this.#closing.signal.aborted) this.#sentAll.resolve();
  }

  async #send(wake: Wake): Promise<void> {
    const { send, isRefusal, report } = this.#options;
    try {
      await send(wake);
      this.#answered(wake);
    } catch (error) {
      if (isRefusal(error)) {
        this.#answered(wake);
        const { uid, sessionId, tenant } = wake;
        report({ type: "wake_refused", uid, sessionId, tenant, error: redactError(error) });
      } else this.#failed(wake, error);
    }
    this.#inFlight.delete(wake.uid);
    this.#sendNext();
  }

  #answered({ uid, head }: Wake): void {
    this.sentHeads.add(uid, head);
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#options.report({ type: "temporal_back" });
  }

  #failed(wake: Wake, error: unknown): void {
    if (this.#closing.signal.aborted) return this.#waiting.clear();
    this.#enqueue(wake);
    if (this.#isPausing) return; // one of those that were sent before the pause
    this.#failures += 1;
    if (this.#failures === 1)
      this.#options.report({ type: "temporal_away", error: redactError(error) });
    void this.#pause();
  }

  async #pause(): Promise<void> {
    const { clock, random } = this.#options;
    this.#isPausing = true;
    await clock.sleep(endlessPause(this.#failures, random(), longestPauseMs), this.#closing.signal);
    this.#isPausing = false;
    this.#sendNext();
  }
}
