import type { SessionUid } from "../ids.ts";
import type { SessionRecord } from "../ports/session-record.ts";
import type { DriverIndex, LivingSign } from "../ports/session-store.ts";
import { hasWork } from "../store-kit/store-work.ts";
import type { StoreWork } from "../store-kit/store-work.ts";

/** What the index reads of a session: its record, what it has to do, and the engine that drives it. */
export interface IndexedSession {
  readonly record: SessionRecord;
  readonly work: StoreWork;
  /** The engine's run that made the last claim. */
  readonly engine?: string | undefined;
}

/** The index of a store in memory. The store calls `note` after each call that may have stored facts. */
export interface MemoryDrivers extends DriverIndex {
  readonly note: (uid: SessionUid) => void;
}

/** An index of the sessions with work, by what `sessionOf` returns for a uid. */
export function memoryDrivers(
  sessionOf: (uid: SessionUid) => IndexedSession | undefined,
): MemoryDrivers {
  const beats = new Map<string, number>();
  // In the order in which they last began to have work, since that is the order of a set.
  const due = new Set<SessionUid>();
  const signOf = ({ work: { driver }, engine: by }: IndexedSession): LivingSign | undefined =>
    driver === undefined ? undefined : { driver, beat: beats.get(driver), by };

  return {
    note: (uid) => {
      const session = sessionOf(uid);
      if (session !== undefined && hasWork(session.work)) due.add(uid);
      else due.delete(uid);
    },
    beat: async (driver) => void beats.set(driver, (beats.get(driver) ?? 0) + 1),
    leave: async (driver) => void beats.delete(driver),
    find: async (uid) => {
      const session = sessionOf(uid);
      return session && signOf(session);
    },
    due: async ({ limit = 100, except } = {}) =>
      [...due]
        .flatMap((uid) => sessionOf(uid) ?? [])
        .filter(({ work }) => work.driver === undefined || work.driver !== except)
        .slice(0, limit)
        .map((session) => {
          const { uid, sessionId, head, incarnation } = session.record;
          const { run } = session.work;
          return { uid, sessionId, head, incarnation, run, sign: signOf(session) };
        }),
  };
}
