import type { SessionSlot } from "@millrace/agent/worker";
import type { Clock, Counters, SessionRecord } from "@millrace/core/ports";

/** A place of a process that died is free again after this, unless another one takes its session over. */
const leaseMs = 30_000;
/** The same of a session without work, which nobody takes over. More than workers keep one open by default. */
export const idleLeaseMs = 6_000;
/** A round of renewals. The longer lease is renewed in each third one. */
const renewalMs = idleLeaseMs / 2;
/** The pause before a place is given back again whose counters were away. */
const releaseAgainMs = 1_000;

export interface RunPlacesOptions {
  readonly counters: Counters;
  readonly limits: RunLimits;
  readonly clock: Clock;
}

/** The keys of a session's places: of its owner, if it has one, and of its tenant. */
interface PlaceKey {
  readonly key: string;
  readonly limit: number;
}

/** A session that this process holds places of. */
interface HeldSession {
  readonly keys: readonly PlaceKey[];
  /** The name of this process's driver, which the store's claims have too. */
  readonly by: string;
  leaseMs: number;
  /** Rounds of renewals that it still leaves out. */
  roundsLeft: number;
}

/**
 * Places of runs at once, counted in all processes that share the counters. A place is a session's, not a
 * process's: two processes that have a session open hold one place, until both have left it. A run that is taken
 * over keeps the one it has: the new driver gives back what the old one held, once the store has the new claim. A
 * driver that was slow, and not dead, may hold the place again, but then as one holder with the new driver, until
 * it finds that claim and leaves. It is renewed while the session is open.
 * Counters that are away refuse nothing; each process then has the limits for itself.
 */
export class RunPlaces {
  readonly #counters: Counters;
  readonly #limits: RunLimits;
  readonly #clock: Clock;
  readonly #held = new Map<SessionRecord["uid"], HeldSession>();
  /** Ends the renewals. */
  #renewals: AbortController | undefined;

  constructor({ counters, limits, clock }: RunPlacesOptions) {
    this.#counters = counters;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Undefined if the owner or the tenant has as many runs as there may be. */
  async enter(session: SessionRecord, by: string): Promise<SessionSlot | undefined> {
    const { uid } = session;
    const keys = this.#keysOf(session);
    const held: PlaceKey[] = [];
    for (const each of keys) {
      if (!(await this.#hold(uid, { place: each, by, leaseMs }))) {
        void this.#release(uid, held, by);
        return undefined;
      }
      held.push(each);
    }
    const entered = { keys, by, leaseMs, roundsLeft: 0 };
    this.#keep(uid, entered);
    const go = (newLeaseMs: number): void => {
      entered.leaseMs = newLeaseMs;
      this.#keep(uid, entered);
      void this.#renew(uid, entered);
    };
    return {
      rest: (rests) => (rests ? void this.#leave(uid) : go(entered.leaseMs)),
      idle: (idle) => go(idle ? idleLeaseMs : leaseMs),
      supersede: (driver) => void this.#release(uid, keys, driver),
      leave: () => this.#leave(uid),
    };
  }

  async #hold(uid: string, { place, by, leaseMs: ms }: Hold): Promise<boolean> {
    const { key, limit } = place;
    if (limit === Infinity) return true;
    try {
      return await this.#counters.hold({ key, holder: uid, by, limit, leaseMs: ms });
    } catch {
      return true; // a limit must not take the service down with its counters
    }
  }

  #keep(uid: SessionRecord["uid"], held: HeldSession): void {
    held.roundsLeft = roundsOf(held);
    this.#held.set(uid, held);
    if (this.#renewals !== undefined) return;
    this.#renewals = new AbortController();
    void this.#renewUntil(this.#renewals.signal);
  }

  async #leave(uid: SessionRecord["uid"]): Promise<void> {
    const held = this.#held.get(uid);
    if (held === undefined) return;
    this.#held.delete(uid);
    if (this.#held.size === 0) {
      this.#renewals?.abort();
      this.#renewals = undefined;
    }
    await this.#release(uid, held.keys, held.by);
  }

  async #renewUntil(signal: AbortSignal): Promise<void> {
    const idle = this.#clock.idle ?? this.#clock.sleep; // a lease keeps no process alive
    for (;;) {
      await idle(renewalMs, signal);
      if (signal.aborted) return;
      this.#renewDue();
    }
  }

  #renewDue(): void {
    for (const [uid, held] of this.#held) {
      held.roundsLeft -= 1;
      if (held.roundsLeft > 0) continue;
      held.roundsLeft = roundsOf(held);
      void this.#renew(uid, held);
    }
  }

  /** What runs already goes on, above the limit if need be. */
  async #renew(uid: SessionRecord["uid"], held: HeldSession): Promise<void> {
    const { keys, by, leaseMs: ms } = held;
    for (const { key } of keys.filter(({ limit }) => limit !== Infinity)) {
      if (this.#held.get(uid) !== held) return; // left meanwhile: nothing would give it back
      await this.#hold(uid, { place: { key, limit: Number.MAX_SAFE_INTEGER }, by, leaseMs: ms });
    }
  }

  /** Of the named driver only. Nothing happens to a place that it does not hold. */
  async #release(uid: Place["holder"], keys: readonly PlaceKey[], by: string): Promise<void> {
    const bounded = keys.filter(({ limit }) => limit !== Infinity);
    await Promise.all(bounded.map(({ key }) => this.#give({ key, holder: uid, by })));
  }

  /** Gives a place back; while the counters are away again and again, until it is free by itself. */
  async #give(place: Place): Promise<void> {
    const { release } = this.#counters;
    const idle = this.#clock.idle ?? this.#clock.sleep;
    const end = this.#clock.monotonic() + leaseMs;
    while (this.#clock.monotonic() <= end) {
      try {
        return await release(place);
      } catch {
        await idle(releaseAgainMs);
      }
      if (this.#held.get(place.holder)?.by === place.by) return; // taken again
    }
  }

  #keysOf({ tenant = "", owner }: SessionRecord): readonly PlaceKey[] {
    const place = `${tenant.length}:${tenant}`;
    const all = [{ key: `runs:${place}`, limit: this.#limits.runsPerTenant }];
    if (owner === undefined) return all; // of the application itself
    return [{ key: `runs:${place}:${owner}`, limit: this.#limits.runsPerUser }, ...all];
  }
}

/** A place, as it is given back. */
interface Place {
  readonly key: string;
  readonly holder: SessionRecord["uid"];
  readonly by: string;
}

interface Hold {
  readonly place: PlaceKey;
  readonly by: string;
  readonly leaseMs: number;
}

function roundsOf(held: HeldSession): number {
  return Math.floor(held.leaseMs / 3 / renewalMs);
}

/** How many runs at once. */
export interface RunLimits {
  readonly runsPerUser: number;
  readonly runsPerTenant: number;
}

/** Whether one more session may be worked on beside others, by its owner and its tenant. */
export function admitRuns(
  limits: RunLimits,
): (session: SessionRecord, beside: readonly SessionRecord[]) => boolean {
  return (session, beside) => {
    const tenant = beside.filter((other) => other.tenant === session.tenant);
    if (tenant.length >= limits.runsPerTenant) return false;
    const { owner } = session;
    if (owner === undefined) return true; // of the application itself
    return tenant.filter((other) => other.owner === owner).length < limits.runsPerUser;
  };
}
