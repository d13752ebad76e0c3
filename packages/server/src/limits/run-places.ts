import type { SessionSlot } from "@millrace/agent/worker";
import type { Counters, SessionRecord } from "@millrace/core/ports";

/** A place of a process that died is free again after this. */
const leaseMs = 30_000;

/** The keys of a session's places: of its owner, if it has one, and of its tenant. */
interface PlaceKey {
  readonly key: string;
  readonly limit: number;
}

/**
 * Places of runs at once, counted in all processes that share the counters. A place is a session's, not a
 * process's: a run that is taken over keeps the one it has, and two processes that have a session open hold
 * one place, until both have left it. It is renewed while the session is open.
 * Counters that are away refuse nothing; each process then has the limits for itself.
 */
export class RunPlaces {
  readonly #counters: Counters;
  readonly #limits: RunLimits;
  readonly #by = crypto.randomUUID();
  readonly #held = new Map<SessionRecord["uid"], readonly PlaceKey[]>();
  #renewals: NodeJS.Timeout | undefined;

  constructor(counters: Counters, limits: RunLimits) {
    this.#counters = counters;
    this.#limits = limits;
  }

  /** Undefined if the owner or the tenant has as many runs as there may be. */
  async enter(session: SessionRecord): Promise<SessionSlot | undefined> {
    const { uid } = session;
    const keys = this.#keysOf(session);
    const held: PlaceKey[] = [];
    for (const each of keys) {
      if (!(await this.#hold(uid, each))) {
        this.#release(uid, held);
        return undefined;
      }
      held.push(each);
    }
    this.#keep(uid, keys);
    return {
      rest: (rests) => {
        if (rests) this.#leave(uid);
        else {
          this.#keep(uid, keys);
          void this.#renew(uid, keys);
        }
      },
      leave: () => this.#leave(uid),
    };
  }

  async #hold(uid: string, { key, limit }: PlaceKey): Promise<boolean> {
    if (limit === Infinity) return true;
    try {
      const place = { key, holder: uid, by: this.#by, limit, leaseMs };
      return await this.#counters.hold(place);
    } catch {
      return true; // a limit must not take the service down with its counters
    }
  }

  #keep(uid: SessionRecord["uid"], keys: readonly PlaceKey[]): void {
    this.#held.set(uid, keys);
    this.#renewals ??= setInterval(() => this.#renewAll(), leaseMs / 3).unref();
  }

  #leave(uid: SessionRecord["uid"]): void {
    const keys = this.#held.get(uid);
    if (keys === undefined) return;
    this.#held.delete(uid);
    this.#release(uid, keys);
    if (this.#held.size > 0) return;
    clearInterval(this.#renewals);
    this.#renewals = undefined;
  }

  #renewAll(): void {
    for (const [uid, keys] of this.#held) void this.#renew(uid, keys);
  }

  /** What runs already goes on, above the limit if need be. */
  async #renew(uid: string, keys: readonly PlaceKey[]): Promise<void> {
    for (const { key, limit } of keys) {
      if (limit !== Infinity) await this.#hold(uid, { key, limit: Number.MAX_SAFE_INTEGER });
    }
  }

  #release(uid: string, keys: readonly PlaceKey[]): void {
    const give = async ({ key, limit }: PlaceKey): Promise<void> => {
      if (limit !== Infinity) await this.#counters.release({ key, holder: uid, by: this.#by });
    };
    // What can't be given back is free when its time is over.
    for (const each of keys) void give(each).catch(() => undefined);
  }

  #keysOf({ tenant = "", owner }: SessionRecord): readonly PlaceKey[] {
    const place = `${tenant.length}:${tenant}`;
    const all = [{ key: `runs:${place}`, limit: this.#limits.runsPerTenant }];
    if (owner === undefined) return all; // of the application itself
    return [{ key: `runs:${place}:${owner}`, limit: this.#limits.runsPerUser }, ...all];
  }
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
