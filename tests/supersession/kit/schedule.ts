import { systemClock } from "@millrace/core/memory";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@millrace/core/ports";

/** Numbers that look random and are the same for the same seed. Each is in [0, 1). */
export type Random = () => number;

interface Held {
  readonly resume: () => void;
  /** Not to be let go before `thaw`. */
  late: boolean;
  readonly eager: boolean;
}

/** How something is held. */
export interface Hold {
  readonly late?: boolean;
  /** Let go sooner than others, as a rule. */
  readonly eager?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** How long the end of a lane waits for a log that does not answer. Every log answers here. */
const closeMs = 250;
/** As long as a tick of `LoopDelay`. */
const tickMs = 10;
/** Longer sleeps are not for this test: they last until they are cut short. */
const longMs = 2_000;
/** What is under way is answered sooner, on a busy machine too. */
const stuckMs = 30_000;

/**
 * Decides in which order the calls of many writers take effect. Each is held before it is made, and
 * may be held before its answer is returned. When nothing is under way one of those held is let go,
 * by chance, or a few at once, so that the engines decide between them.
 */
export class Schedule {
  readonly random: Random;
  readonly #held = new Set<Held>();
  #flying = 0;
  #landed: (() => void) | undefined;
  #programs = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(random: Random) {
    this.random = random;
  }

  /** Real time, but for short sleeps: those are held as everything else is. */
  readonly clock: Clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: async (ms, signal) => {
      if (signal?.aborted === true) return;
      // The ticks by which a writer measures its event loop decide nothing, and are never cut short. The
      // end of a window may be as near: its sleep is held, or else the writer would look settled.
      if (ms === tickMs && signal === undefined) await sleep(ms);
      else if (ms < longMs && ms !== closeMs) await this.pass({ signal });
      else
        await new Promise<void>((resolve) => {
          signal?.addEventListener("abort", () => resolve(), { once: true });
        });
    },
    after: systemClock.after,
  };

  chance(share: number): boolean {
    return this.random() < share;
  }

  /** A whole number from the first to the second. */
  between(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1));
  }

  /** Waits for its turn, or for the signal. */
  async pass({ late = false, eager = false, signal }: Hold = {}): Promise<void> {
    await new Promise<void>((resolve) => {
      const held: Held = {
        late,
        eager,
        resume: () => {
          this.#held.delete(held);
          signal?.removeEventListener("abort", held.resume);
          resolve();
        },
      };
      this.#held.add(held);
      signal?.addEventListener("abort", held.resume, { once: true });
    });
  }

  /** Something real that is under way: until it is answered nothing else is let go. */
  async fly<T>(call: () => Promise<T>): Promise<T> {
    this.#flying += 1;
    try {
      return await call();
    } finally {
      this.#flying -= 1;
      if (this.#flying === 0) this.#landed?.();
    }
  }

  /** A program whose calls are scheduled. What it throws is thrown by `play`. */
  begin(program: () => Promise<void>): void {
    this.#programs += 1;
    program().then(
      () => (this.#programs -= 1),
      (error: unknown) => {
        this.#programs -= 1;
        this.#failure ??= { error };
      },
    );
  }

  /** Those that were held for long may be let go. */
  thaw(share: number): void {
    for (const held of this.#held) if (held.late && this.chance(share)) held.late = false;
  }

  /** Lets go until all programs are over, but for those that are held for long. */
  async play(): Promise<void> {
    let stuckSince = performance.now();
    for (;;) {
      await turn();
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#flying > 0) {
        await new Promise<void>((resolve) => (this.#landed = resolve));
        continue;
      }
      const ready = [...this.#held].filter(({ late }) => !late);
      if (ready.length === 0) {
        if (this.#programs === 0 || this.#held.size > 0) {
          // A writer that is not held has settled by now, or waits for an engine.
          await sleep(1);
          if (this.#isQuiet()) return;
        } else if (performance.now() - stuckSince > stuckMs) {
          throw new Error(`${this.#programs} programs wait for nothing`);
        } else await sleep(1);
        continue;
      }
      stuckSince = performance.now();
      const count = this.chance(0.25) ? this.between(2, 3) : 1;
      for (let left = count; left > 0; left -= 1) this.#choose(ready)?.resume();
    }
  }

  #choose(ready: Held[]): Held | undefined {
    const eager = this.chance(0.4) ? ready.filter((held) => held.eager) : [];
    const some = eager.length > 0 ? eager : ready;
    const chosen = some[Math.floor(this.random() * some.length)];
    if (chosen !== undefined) ready.splice(ready.indexOf(chosen), 1);
    return chosen;
  }

  #isQuiet(): boolean {
    return this.#flying === 0 && [...this.#held].every(({ late }) => late);
  }
}
