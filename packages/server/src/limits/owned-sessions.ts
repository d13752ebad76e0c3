import type { SessionStore } from "@millrace/core/ports";
import type { Identity } from "../http/identity.ts";

/** Sessions that are read at once to count them. */
const pageSize = 500;
/** For so long a count is taken for granted, together with what this process has made since. */
const keptMs = 60_000;
/** Owners whose counts are kept. */
const keptOwners = 10_000;

/** A count, and when it was read. */
interface Counted {
  readonly at: number;
  readonly sessions: number;
}

/**
 * Whether an owner may have one more session. Sessions are counted a page at a time, at most up to the
 * limit, and the count is kept for a minute: an owner with few costs one page a minute. Sub-agents' sessions
 * count nothing. Several processes may together go above the limit by what they make within a minute.
 */
export class OwnedSessions {
  readonly #limit: number;
  readonly #monotonic: () => number;
  readonly #counts = new Map<string, Counted>();

  constructor(limit: number, monotonic: () => number) {
    this.#limit = limit;
    this.#monotonic = monotonic;
  }

  /** A refusal is always by a fresh count, so that a session that was removed makes room at once. */
  async hasRoom(store: Pick<SessionStore, "page">, owner: Identity): Promise<boolean> {
    if (this.#limit === Infinity) return true;
    const key = keyOf(owner);
    const known = this.#counts.get(key);
    const isFresh = known !== undefined && this.#monotonic() - known.at < keptMs;
    if (isFresh && known.sessions < this.#limit) return true;
    const sessions = await this.#count(store, owner.user);
    if (this.#counts.size >= keptOwners) this.#counts.clear();
    this.#counts.set(key, { at: this.#monotonic(), sessions });
    return sessions < this.#limit;
  }

  /** Counts one that was made. */
  made(owner: Identity): void {
    const key = keyOf(owner);
    const known = this.#counts.get(key);
    if (known !== undefined) this.#counts.set(key, { ...known, sessions: known.sessions + 1 });
  }

  async #count(store: Pick<SessionStore, "page">, owner: string): Promise<number> {
    let sessions = 0;
    for (let after: string | undefined; sessions < this.#limit;) {
      const limit = Math.min(pageSize, Math.ceil(this.#limit - sessions));
      const page = await store.page({ owner, limit, after });
      sessions += page.records.length;
      after = page.next;
      if (after === undefined) break;
    }
    return sessions;
  }
}

function keyOf({ tenant, user }: Identity): string {
  return `${tenant.length}:${tenant}:${user}`;
}
