import { MillraceError } from "@millrace/core";
import { endlessPause } from "@millrace/core/model";
import { diskRefusal } from "@millrace/core/checks";
import { systemRandom } from "@millrace/core/memory";
import type { Clock } from "@millrace/core/ports";

export interface OutageOptions {
  readonly clock: Clock;
  /** Once it is aborted nothing is repeated any more: the error of the last try is thrown. */
  readonly signal: AbortSignal;
  /** In [0, 1). Pauses are jittered by it. */
  readonly random?: (() => number) | undefined;
  /** Called when a call first fails, and when the store answers again. Must not throw. */
  readonly onChange?: ((away: { readonly error: unknown } | undefined) => void) | undefined;
  /**
   * Called when the store's disk has refused a call for three seconds, with its error, and when it takes the last one
   * of these. Must not throw.
   */
  readonly onRefusal?: ((refused: { readonly error: unknown } | undefined) => void) | undefined;
}

/** A disk may be full for a moment. After this, what waits for it is answered. */
const refusalMs = 3_000;

/**
 * Waits out the outages of a store: a call that fails is repeated, with pauses that grow to 5 s and are
 * jittered, without a last try. Every error counts as an outage but a `MillraceError`: that one is a
 * broken contract, or an answer, and repeating the call would give it again. One exists for each open
 * session, so that an answer to any of its calls ends the pauses of all. A disk that is full still answers reads, so
 * these end no pause of a call that it has refused.
 */
export class StoreOutage {
  readonly #options: OutageOptions;
  readonly #pausing = new Set<AbortController>();
  /** Calls that the disk has refused, each with the time of the first refusal. */
  readonly #refused = new Map<object, number>();
  #isRefusing = false;
  #away = false;
  /** False while a session is being opened: its caller then gets the error of the store. */
  isWaitedOut = true;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** True from the first call that failed until the store answers. */
  get isAway(): boolean {
    return this.#away;
  }

  /** Called when the store has answered anything: what is paused is repeated at once. */
  answered(): void {
    if (!this.#away || this.#refused.size > 0) return;
    this.#away = false;
    this.#repeatNow();
    this.#options.onChange?.(undefined);
  }

  /** Called when the store has taken a write: what its disk has refused before is repeated at once. */
  wrote(): void {
    this.#refused.clear();
    this.#noteTaken();
    this.#repeatNow();
  }

  #repeatNow(): void {
    for (const pause of this.#pausing) pause.abort();
  }

  /** Called when the store did not answer. */
  failed(error: unknown): void {
    if (this.#away) return;
    this.#away = true;
    this.#options.onChange?.({ error });
  }

  /**
   * Makes a call until the store answers it. `again` is true from the second try on: an earlier one may
   * have been carried out, with only its answer lost. `given` ends the repeats of this call alone.
   */
  async retry<T>(call: (again: boolean) => Promise<T>, given?: AbortSignal): Promise<T> {
    const { signal } = this.#options;
    const isOver = (): boolean => signal.aborted || given?.aborted === true || !this.isWaitedOut;
    const own = {};
    try {
      for (let failures = 0; ;) {
        try {
          const answer = await call(failures > 0);
          this.#refused.delete(own);
          this.answered();
          return answer;
        } catch (error) {
          if (MillraceError.is(error) || isOver()) throw error;
          this.failed(error);
          this.#noteRefusal(own, error);
          failures += 1;
          await this.#pause(failures, given);
          if (isOver()) throw error;
        }
      }
    } finally {
      this.#refused.delete(own);
      this.#noteTaken();
    }
  }

  #noteRefusal(own: object, error: unknown): void {
    if (diskRefusal(error) === undefined) return;
    const now = this.#options.clock.monotonic();
    const since = this.#refused.get(own) ?? now;
    this.#refused.set(own, since);
    if (this.#isRefusing || now - since < refusalMs) return;
    this.#isRefusing = true;
    this.#options.onRefusal?.({ error });
  }

  #noteTaken(): void {
    if (!this.#isRefusing || this.#refused.size > 0) return;
    this.#isRefusing = false;
    this.#options.onRefusal?.(undefined);
  }

  async #pause(failures: number, given: AbortSignal | undefined): Promise<void> {
    const { clock, signal, random = systemRandom } = this.#options;
    const pause = new AbortController();
    const end = (): void => pause.abort();
    this.#pausing.add(pause);
    for (const one of [signal, given]) one?.addEventListener("abort", end, { once: true });
    await clock.sleep(endlessPause(failures, random()), pause.signal);
    for (const one of [signal, given]) one?.removeEventListener("abort", end);
    this.#pausing.delete(pause);
  }
}
