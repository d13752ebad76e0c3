import { sessionId } from "@millrace/core/writing";
import type { SessionId, SessionUid } from "@millrace/core";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { countingIds } from "@millrace/core/testing";

/** Store and log, as one process has them. */
export interface Node {
  readonly store: SessionStore;
  readonly log: EventLog;
}

/** What a session is in. */
export interface Engines {
  /** The processes that the actors are spread over. At least one. */
  readonly nodes: readonly Node[];
  /** A name that no session has had. */
  readonly nameSession: () => SessionId;
  /** Makes the log forget lanes, and their fences with them. */
  readonly lose: (uid: SessionUid, lanes: readonly number[]) => Promise<void>;
  /**
   * True: an announcement comes some time after its call was answered, not at all if it is older than
   * another one, and also for a batch that the log then refused.
   */
  readonly remote: boolean;
}

const clock = {
  now: () => 0,
  monotonic: () => 0,
  sleep: async () => undefined,
  after: systemClock.after,
};
const name = sessionId("s");

/** Engines in memory, for one session. */
export function memoryEngines(): Engines {
  const log = memoryEventLog();
  return {
    nodes: [{ store: memorySessionStore({ clock, makeId: countingIds() }), log }],
    nameSession: () => name,
    lose: async (uid, lanes) => {
      for (const lane of lanes) log.lose(uid, lane);
    },
    remote: false,
  };
}
