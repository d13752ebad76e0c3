import type { SessionUid } from "@millrace/core";
import type { Identity } from "../http/identity.ts";
import { Problem } from "../http/problem.ts";
import type { ServerLimits } from "../http/route-limits.ts";

/** What a stream holds while it is open. */
export interface StreamSlot {
  /** Counts a viewer of one more session. Throws `quota_exceeded`. A session counts once. */
  readonly view: (uid: SessionUid) => void;
  /** Gives all back. May be called again. */
  readonly release: () => void;
}

/** Counts what is open at once in this process: streams by user, viewers by session, exports by user. */
export class Slots {
  readonly #limits: ServerLimits;
  readonly #counts = new Map<string, number>();
  #streams = 0;

  constructor(limits: ServerLimits) {
    this.#limits = limits;
  }

  /** Streams that are open in this process. */
  get streams(): number {
    return this.#streams;
  }

  /** Admits a stream. Throws `quota_exceeded`, or `overloaded` for the process. Nobody else is evicted. */
  stream(who: Identity): StreamSlot {
    const { streamsPerProcess, streamsPerUser, viewersPerSession } = this.#limits;
    if (this.#streams >= streamsPerProcess) {
      const detail = "this process has as many streams as it takes: come back";
      throw new Problem("overloaded", detail, { retryAfter: 5 });
    }
    const held = [this.#hold(`user:${keyOf(who)}`, streamsPerUser, "streams")];
    const seen = new Set<SessionUid>();
    this.#streams += 1;
    return {
      view: (uid) => {
        if (seen.has(uid)) return;
        held.push(this.#hold(`session:${uid}`, viewersPerSession, "viewers"));
        seen.add(uid);
      },
      release: () => {
        if (held.length > 0) this.#streams -= 1;
        for (const give of held.splice(0)) give();
      },
    };
  }

  /** Admits an export. Throws `quota_exceeded`. The result gives it back. */
  export(who: Identity): () => void {
    return this.#hold(`export:${keyOf(who)}`, this.#limits.exportsPerUser, "exports");
  }

  #hold(key: string, limit: number, policy: string): () => void {
    const used = this.#counts.get(key) ?? 0;
    if (used >= limit) {
      const detail = `${limit} are open already (${policy}): close one`;
      throw new Problem("quota_exceeded", detail, { policy, retryAfter: 5 });
    }
    this.#counts.set(key, used + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    };
  }
}

function keyOf({ tenant, user }: Identity): string {
  return `${tenant.length}:${tenant}:${user}`;
}
