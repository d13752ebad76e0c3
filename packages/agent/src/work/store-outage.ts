import { MillraceError } from "@millrace/core";
import { endlessPause } from "@millrace/core/model";
import type { Clock } from "@millrace/core/ports";

export interface OutageOptions {
  readonly clock: Clock;
  /** Once it is aborted nothing is repeated any more: the error of the last try is thrown. */
  readonly signal: AbortSignal;
  /** In [0, 1). Pauses are jittered by it. */
  readonly random?: (() => number) | undefined;
  /** Called when a call first fails, and when the store answers again. Must not throw. */
  readonly onChange?: ((away: { readonly error: unknown } | undefined) => void) | undefined;
}

/**
 * Waits out the outages of a store: a call that fails is repeated, with pauses that grow to 5 s and are
 * jittered, without a last try. Every error counts as an outage but a `MillraceError`: that one is a
 * broken contract, or an answer, and repeating the call would give it again. One exists for each open
 * session, so that an answer to any of its calls ends the pauses of all.
 */
export class StoreOutage {
  readonly #options: OutageOptions;
  readonly #pausing = new Set<AbortController>();
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
    if (!this.#away) return;
    this.#away = false;
    for (const pause of this.#pausing) pause.abort();
    this.#options.onChange?.(undefined);
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
    for (let failures = 0; ;) {
      try {
        const answer = await call(failures > 0);
        this.answered();
        return answer;
      } catch (error) {
        if (MillraceError.is(error) || isOver()) throw error;
        this.failed(error);
        failures += 1;
        await this.#pause(failures, given);
        if (isOver()) throw error;
      }
    }
  }

  async #pause(failures: number, given: AbortSignal | undefined): Promise<void> {
    const { clock, signal, random = Math.random } = this.#options;
    const pause = new AbortController();
    const end = (): void => pause.abort();
    this.#pausing.add(pause);
    for (const one of [signal, given]) one?.addEventListener("abort", end, { once: true });
    await clock.sleep(endlessPause(failures, random()), pause.signal);
    for (const one of [signal, given]) one?.removeEventListener("abort", end);
    this.#pausing.delete(pause);
  }
}
