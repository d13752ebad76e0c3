import { MillraceError } from "../errors.ts";
import type { Fact } from "../event/event.ts";
import { sessionId, sessionKey, sessionUid } from "../ids.ts";
import type { SessionId, SessionKey, SessionUid } from "../ids.ts";
import type { Metadata } from "../json.ts";
import type { Clock, MakeId } from "../ports/clock.ts";
import type {
  Checkpoint,
  CreateOptions,
  SessionRecord,
  SessionStore,
} from "../ports/session-store.ts";
import { chooseFacts } from "../ports/store-row.ts";
import { encodeBase64 } from "../wire/base64.ts";
import { SessionLedger } from "./session-ledger.ts";
import { randomId, steadyNow, systemClock } from "./system.ts";

export interface MemorySessionStoreOptions {
  readonly clock?: Clock | undefined;
  readonly makeId?: MakeId | undefined;
}

interface Row {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly metadata: Metadata;
  readonly ledger: SessionLedger;
  readonly key: SessionKey;
  checkpoint?: Checkpoint;
}

/**
 * The SessionStore of one process, with the full semantics: claims, floors, one item for each
 * reserved id, compare-and-set on the head. It forgets everything when the process ends.
 */
export function memorySessionStore(options: MemorySessionStoreOptions = {}): SessionStore {
  const { clock = systemClock, makeId = randomId } = options;
  const rows = new Map<SessionUid, Row>();
  const names = new Map<SessionId, SessionUid>();
  const now = steadyNow(clock);

  const rowOf = (uid: SessionUid): Row => {
    const row = rows.get(uid);
    if (row === undefined) {
      throw new MillraceError("unknown_session", `no session has the uid ${uid}`);
    }
    return row;
  };
  const ledgerOf = (uid: SessionUid): SessionLedger => rowOf(uid).ledger;
  const create = ({ sessionId: name, metadata = {} }: CreateOptions): Row => {
    const id = sessionId(name);
    if (names.has(id)) {
      throw new MillraceError("session_exists", `there is a session ${id} already`);
    }
    const uid = sessionUid(makeId("session"));
    const ledger = new SessionLedger({ uid, sessionId: id, now });
    const row = { uid, sessionId: id, metadata, ledger, key: randomKey() };
    rows.set(uid, row);
    names.set(id, uid);
    return row;
  };

  return {
    create: async (request) => recordOf(create(request)),
    find: async (name) => {
      const uid = names.get(sessionId(name));
      return uid === undefined ? undefined : recordOf(rowOf(uid));
    },
    list: async ({ after, limit = 100 } = {}) =>
      [...rows.values()]
        .filter((row) => after === undefined || row.sessionId > after)
        .toSorted((left, right) => (left.sessionId < right.sessionId ? -1 : 1))
        .slice(0, limit)
        .map(recordOf),
    remove: async (uid) => {
      const row = rows.get(uid);
      rows.delete(uid);
      if (row !== undefined) names.delete(row.sessionId);
    },
    key: async (uid) => rowOf(uid).key,
    now,
    read: async (uid, options) => chooseFacts(ledgerOf(uid).facts, options),
    head: async (uid) => ledgerOf(uid).facts.length,
    heads: async (uids) =>
      new Map(
        uids.flatMap((uid) => {
          const row = rows.get(uid);
          return row === undefined ? [] : [[uid, row.ledger.facts.length] as const];
        }),
      ),
    floors: async (uid) => ledgerOf(uid).floors(),
    checkpoint: async (uid) => checkpointOf(rowOf(uid)),
    keepCheckpoint: async (uid, checkpoint) => keep(rowOf(uid), checkpoint),
    claim: async (uid, request) => ledgerOf(uid).claim(request),
    accept: async (uid, key, body) => ledgerOf(uid).accept(key, body),
    open: async (uid, request) => ledgerOf(uid).open(request),
    commit: async (uid, request) => ledgerOf(uid).commit(request),
    append: async (uid, request) => ledgerOf(uid).append(request),
    fork: async (uid, { n, added = [], ...request }) => {
      const source = rowOf(uid);
      const row = create({ metadata: source.metadata, ...request });
      const own = { sessionId: row.sessionId };
      row.ledger.load(source.ledger.facts.slice(0, n).map((fact) => ({ ...fact, ...own })));
      row.ledger.acceptAll(added);
      return recordOf(row);
    },
  };
}

/** The checkpoint, unless a later reset undid facts in it. */
function checkpointOf({ checkpoint, ledger }: Row): Checkpoint | undefined {
  if (checkpoint === undefined) return undefined;
  const { head } = checkpoint;
  const isUndone = (fact: Fact): boolean =>
    fact.type === "session_claimed" && (fact.to ?? head) < head;
  return ledger.facts.slice(head).some(isUndone) ? undefined : checkpoint;
}

function keep(row: Row, checkpoint: Checkpoint): void {
  const { head } = checkpoint;
  const least = checkpointOf(row)?.head ?? 0;
  if (head >= least && head <= row.ledger.facts.length) row.checkpoint = checkpoint;
}

function randomKey(): SessionKey {
  const text = encodeBase64(crypto.getRandomValues(new Uint8Array(32)));
  return sessionKey(text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""));
}

function recordOf({ uid, sessionId, metadata, ledger }: Row): SessionRecord {
  const { incarnation } = ledger.state;
  return { uid, sessionId, metadata, incarnation, head: ledger.facts.length };
}
