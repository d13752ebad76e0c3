import type { SessionUid } from "@millrace/core";
import type { DriverIndex, DueSession, SessionStore } from "@millrace/core/ports";

/** The sessions with work in a store that this process alone may write. */
export interface LocalIndex extends DriverIndex {
  /** A session that has got work. */
  readonly note: (session: DueSession) => void;
  /** A session that has no work any more. */
  readonly forget: (uid: SessionUid) => void;
}

/**
 * The index of a store that has none. At the first reading all sessions with work are listed, so that what
 * a crash left is taken up; later ones are those that requests of this process have given work.
 */
export function localIndex(store: Pick<SessionStore, "page">): LocalIndex {
  const due = new Map<SessionUid, DueSession>();
  let listed = false;
  return {
    note: (session) => void due.set(session.uid, session),
    forget: (uid) => void due.delete(uid),
    beat: async () => undefined,
    leave: async () => undefined,
    find: async () => undefined,
    due: async ({ limit = 100 } = {}) => {
      if (!listed) {
        for (const session of await withWork(store)) {
          if (!due.has(session.uid)) due.set(session.uid, session);
        }
        listed = true;
      }
      return [...due.values()].slice(0, limit);
    },
  };
}

/** Those that run or wait for a person, whose runs may be stopped or reach a limit. Idle ones are not opened. */
async function withWork(store: Pick<SessionStore, "page">): Promise<readonly DueSession[]> {
  const found: DueSession[] = [];
  for (const status of ["running", "paused"] as const) {
    for (let after: string | undefined; ;) {
      const page = await store.page({ status, after, limit: 500 });
      found.push(...page.records);
      after = page.next;
      if (after === undefined) break;
    }
  }
  return found;
}
