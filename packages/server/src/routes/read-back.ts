import type { Fact } from "@millrace/core";
import type { SessionRecord, SessionStore } from "@millrace/core/ports";

/** Facts that are read at first, if the caller asks for no more: those of a run or two. */
const usual = 64;

/** What of a session is read backwards. */
export interface ReadBackOptions extends Pick<SessionRecord, "uid"> {
  readonly store: Pick<SessionStore, "read">;
  /** The number below which facts are read. */
  readonly before: number;
  /** The last of them that were read already, without a gap. */
  readonly newest?: readonly Fact[] | undefined;
  /** How many are read at first. */
  readonly first?: number | undefined;
}

/**
 * Reads a session backwards, as far as the caller goes on: gives its last facts, then more of them each time, at
 * last all. Each read doubles what is there, so that looking through all of it each time is linear too.
 */
export async function* readBack(
  options: ReadBackOptions,
): AsyncGenerator<readonly Fact[], void, undefined> {
  const { store, uid, before, newest = [], first = usual } = options;
  let facts = newest;
  yield facts;
  for (let end = facts[0]?.n ?? before; end > 1; end = facts[0]?.n ?? 1) {
    const limit = Math.max(usual, first - newest.length, facts.length);
    const earlier = await store.read(uid, { before: end, limit });
    if (earlier.length === 0) return;
    facts = [...earlier, ...facts];
    yield facts;
  }
}
