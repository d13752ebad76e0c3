import type { SessionUid } from "@millrace/core";
import { endlessPause } from "@millrace/core/model";
import type { DueSession } from "@millrace/core/ports";
import { redactError } from "@millrace/core/secrets";
import { LostDrivers } from "./lost-drivers.ts";
import type { PoisonedSession } from "./worker.ts";

/** The longest pause between two tries of a session that keeps failing. */
const longestMs = 300_000;

interface Failure {
  readonly session: DueSession;
  readonly error: unknown;
  readonly tries: number;
  /** By the monotonic clock. */
  readonly nextAt: number;
}

/** The sessions that failed, and when each is tried again. One that works again is forgotten. */
export class Failures {
  readonly #poisonAfter: number;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #failed = new Map<SessionUid, Failure>();

  constructor(poisonAfter: number, now: () => number, random: () => number) {
    this.#poisonAfter = poisonAfter;
    this.#now = now;
    this.#random = random;
  }

  /** Counts one more failure, and returns what is known of the session now. */
  add(session: DueSession, error: unknown): PoisonedSession & { readonly poisoned: boolean } {
    const before = this.#failed.get(session.uid)?.tries ?? 0;
    const tries = error instanceof LostDrivers ? error.count : before + 1;
    const pause = endlessPause(tries, this.#random(), longestMs);
    const failure = { session, error: redactError(error), tries, nextAt: this.#now() + pause };
    this.#failed.set(session.uid, failure);
    return { ...this.#describe(failure), poisoned: tries >= this.#poisonAfter };
  }

  /** True if this claim's run was put off for the drivers that it lost: after the pause it is tried. */
  hasWaited({ uid, incarnation }: DueSession): boolean {
    const failed = this.#failed.get(uid);
    return failed?.error instanceof LostDrivers && failed.session.incarnation === incarnation;
  }

  clear(uid: SessionUid): void {
    this.#failed.delete(uid);
  }

  isBackedOff({ uid }: DueSession): boolean {
    const failed = this.#failed.get(uid);
    return failed !== undefined && this.#now() < failed.nextAt;
  }

  /** Forgets sessions that are due for a try and are listed no more: they were removed, or ended elsewhere. */
  keepListed(listed: ReadonlySet<SessionUid>): void {
    for (const [uid, { nextAt }] of this.#failed)
      if (!listed.has(uid) && this.#now() >= nextAt) this.#failed.delete(uid);
  }

  poisoned(): readonly PoisonedSession[] {
    const poisoned = [...this.#failed.values()].filter(({ tries }) => tries >= this.#poisonAfter);
    return poisoned.map((failure) => this.#describe(failure));
  }

  #describe({ session, error, tries, nextAt }: Failure): PoisonedSession {
    const { sessionId, uid, tenant } = session;
    const nextTryInMs = Math.max(0, nextAt - this.#now());
    return { sessionId, uid, tenant, error, tries, nextTryInMs };
  }
}
