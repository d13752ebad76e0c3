import { MillraceError } from "../errors.ts";
import { sessionId, sessionKey, sessionUid } from "../ids.ts";
import type { SessionId, SessionKey, SessionUid } from "../ids.ts";
import type { Clock, MakeId } from "../ports/clock.ts";
import type {
  CreateOptions,
  SessionRecord,
  UpdateOutcome,
  UpdateRequest,
} from "../ports/session-record.ts";
import type { Checkpoint, SessionStore, Tombstone } from "../ports/session-store.ts";
import { pageOf } from "../store-kit/store-page.ts";
import {
  changeDetails,
  childDetails,
  forkDetails,
  makeRecord,
  newDetails,
  requireFirst,
} from "../store-kit/store-record.ts";
import type { StoreDetails } from "../store-kit/store-record.ts";
import { chooseFacts } from "../store-kit/store-row.ts";
import { openCall } from "../store-kit/store-rules.ts";
import type { ChildSession } from "../store-kit/store-rules.ts";
import { removeFamily } from "../store-kit/tombstone.ts";
import type { FamilyStore } from "../store-kit/tombstone.ts";
import { encodeBase64 } from "../wire/base64.ts";
import { encodedStore } from "./encoded.ts";
import { memoryDrivers } from "./memory-drivers.ts";
import { SessionLedger } from "./session-ledger.ts";
import { randomId, steadyNow, systemClock } from "./system.ts";

export interface MemorySessionStoreOptions {
  readonly clock?: Clock | undefined;
  readonly makeId?: MakeId | undefined;
  /**
   * For tests of several processes in one: what it takes and gives is copied, facts by the codec of the wire, so that
   * no process holds an object of another. Left out: objects are shared, which costs nothing.
   */
  readonly encode?: boolean | undefined;
}

interface Row {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  details: StoreDetails;
  readonly ledger: SessionLedger;
  readonly key: SessionKey;
  checkpoint?: Checkpoint;
}

function listRows(
  rows: readonly Row[],
  { after, limit = 100 }: NonNullable<Parameters<SessionStore["list"]>[0]> = {},
): readonly SessionRecord[] {
  return rows
    .filter((row) => after === undefined || row.sessionId > after)
    .toSorted((left, right) => (left.sessionId < right.sessionId ? -1 : 1))
    .slice(0, limit)
    .map(recordOf);
}

/**
 * The SessionStore of one process, with the full semantics: claims, floors, one item for each
 * reserved id, compare-and-set on the head. It forgets everything when the process ends.
 */
export function memorySessionStore(options: MemorySessionStoreOptions = {}): SessionStore {
  const store = sharingStore(options);
  return options.encode === true ? encodedStore(store) : store;
}

function sharingStore(options: MemorySessionStoreOptions): SessionStore {
  const { clock = systemClock, makeId = randomId } = options;
  const rows = new Map<SessionUid, Row>();
  const names = new Map<SessionId, SessionUid>();
  const now = steadyNow(clock);
  const tombstones = new MemoryTombstones();

  const rowOf = (uid: SessionUid): Row => {
    const row = rows.get(uid);
    if (row !== undefined) return row;
    throw new MillraceError("unknown_session", `no session has the uid ${uid}`);
  };
  const ledgerOf = (uid: SessionUid): SessionLedger => rowOf(uid).ledger;
  const { note, ...drivers } = memoryDrivers((uid) => {
    const row = rows.get(uid);
    return row && { record: recordOf(row), work: row.ledger.row, engine: row.ledger.engine };
  });
  const write = async <T>(uid: SessionUid, call: (ledger: SessionLedger) => T): Promise<T> => {
    const answer = call(ledgerOf(uid));
    note(uid);
    return answer;
  };
  const makeOwn = () => ({ uid: sessionUid(makeId("session")), createdAt: now() });
  const add = (details: StoreDetails, first?: CreateOptions["first"]): Row => {
    const { uid, sessionId: id } = details;
    const ledger = new SessionLedger({ ...details, now });
    if (first !== undefined) requireFirst(ledger.accept(first.key, first.body).outcome, id);
    const row: Row = { uid, sessionId: id, details, ledger, key: randomKey() };
    rows.set(uid, row);
    names.set(id, uid);
    note(uid);
    return row;
  };
  const create = ({ first, ...request }: CreateOptions): Row => {
    const details = newDetails(request, makeOwn());
    if (!names.has(details.sessionId)) return add(details, first);
    throw new MillraceError("session_exists", `there is a session ${details.sessionId} already`);
  };
  const addChild = (uid: SessionUid, child: ChildSession): void => {
    if (!names.has(child.sessionId)) add(childDetails(child, rowOf(uid).details, makeOwn()));
  };

  const list: SessionStore["list"] = async (options) => listRows([...rows.values()], options);
  const removeOne: FamilyStore["removeOne"] = async (uid, left) => {
    const row = rows.get(uid);
    if (row === undefined) return;
    const hash = await hashOf(row.sessionId);
    if (!rows.delete(uid)) return; // another call has removed it meanwhile
    names.delete(row.sessionId);
    tombstones.add(hash, { uid, at: now(), ...left, ...ownerOf(row) });
    note(uid);
  };
  const family: FamilyStore = { list, removeOne, tombstonesOf: (root) => tombstones.ofRoot(root) };

  return {
    create: async (request) => recordOf(create(request)),
    find: async (name) => {
      const uid = names.get(sessionId(name));
      return uid === undefined ? undefined : recordOf(rowOf(uid));
    },
    list,
    page: async (query) => pageOf([...rows.values()].map(recordOf), query),
    update: async (uid, change) => updateRow(rowOf(uid), change),
    remove: (uid, options) => removeFamily(family, uid, options),
    tombstone: async (name) => tombstones.of(sessionId(name)),
    key: async (uid) => rowOf(uid).key,
    now,
    heads: async (uids) => headsOf(rows, uids),
    ...memoryReads(ledgerOf),
    ...memoryWrites(write, addChild),
    ...memoryCheckpoints(rowOf),
    drivers,
    fork: async (uid, { n, added = [], ...request }) => {
      const source = rowOf(uid);
      const row = create(forkDetails(request, source.details));
      const own = { sessionId: row.sessionId };
      row.ledger.load(source.ledger.facts.slice(0, n).map((fact) => ({ ...fact, ...own })));
      row.ledger.acceptAll(added);
      note(row.uid);
      return recordOf(row);
    },
  };
}

function memoryReads(
  ledgerOf: (uid: SessionUid) => SessionLedger,
): Pick<SessionStore, "read" | "head" | "floors" | "claimedBy" | "hasInput"> {
  return {
    read: async (uid, options) => chooseFacts(ledgerOf(uid).facts, options),
    head: async (uid) => ledgerOf(uid).facts.length,
    floors: async (uid) => ledgerOf(uid).floors(),
    claimedBy: async (uid, by) => ledgerOf(uid).claimedBy(by),
    hasInput: async (uid, inputId) => ledgerOf(uid).hasInput(inputId),
  };
}

/** Calls a session's ledger, and notes what that changes for drivers. */
type Write = <T>(uid: SessionUid, call: (ledger: SessionLedger) => T) => Promise<T>;

function memoryWrites(
  write: Write,
  addChild: (uid: SessionUid, child: ChildSession) => void,
): Pick<SessionStore, "claim" | "accept" | "open" | "commit" | "append"> {
  return {
    open: async (uid, request) => {
      const { child } = openCall(uid, request);
      return write(uid, (ledger) => {
        const opened = ledger.open(request);
        if (opened.outcome === "opened" && child !== undefined) addChild(uid, child);
        return opened;
      });
    },
    claim: (uid, request) => write(uid, (ledger) => ledger.claim(request)),
    accept: (uid, key, body) => write(uid, (ledger) => ledger.accept(key, body)),
    commit: (uid, request) => write(uid, (ledger) => ledger.commit(request)),
    append: (uid, request) => write(uid, (ledger) => ledger.append(request)),
  };
}

function updateRow(row: Row, change: UpdateRequest): UpdateOutcome {
  const details = changeDetails(row.details, change);
  if (details !== undefined) row.details = details;
  return { outcome: details === undefined ? "moved" : "updated", record: recordOf(row) };
}

function ownerOf({ details: { owner } }: Row): Pick<Tombstone, "owner"> {
  return owner === undefined ? {} : { owner };
}

function headsOf(
  rows: ReadonlyMap<SessionUid, Row>,
  uids: readonly SessionUid[],
): ReadonlyMap<SessionUid, number> {
  return new Map(
    uids.flatMap((uid) => {
      const row = rows.get(uid);
      return row === undefined ? [] : [[uid, row.ledger.head] as const];
    }),
  );
}

function memoryCheckpoints(
  rowOf: (uid: SessionUid) => Row,
): Pick<SessionStore, "checkpoint" | "keepCheckpoint"> {
  return {
    checkpoint: async (uid) => {
      const { checkpoint, ledger } = rowOf(uid);
      return checkpoint && ledger.hasUndone(checkpoint.head) ? undefined : checkpoint;
    },
    keepCheckpoint: async (uid, checkpoint) => {
      const row = rowOf(uid);
      const { head } = checkpoint;
      if (head > row.ledger.head || head < (row.checkpoint?.head ?? 0)) return;
      row.checkpoint = checkpoint;
    },
  };
}

function randomKey(): SessionKey {
  const text = encodeBase64(crypto.getRandomValues(new Uint8Array(32)));
  return sessionKey(text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""));
}

function recordOf({ details, ledger }: Row): SessionRecord {
  return makeRecord(details, ledger.row);
}

/** The tombstones of a store in memory, by uid and by the hash of the name. No name is kept. */
class MemoryTombstones {
  readonly #byUid = new Map<SessionUid, Tombstone>();
  readonly #byName = new Map<string, Tombstone>();

  has(uid: SessionUid): boolean {
    return this.#byUid.has(uid);
  }

  add(nameHash: string, tombstone: Tombstone): void {
    this.#byUid.set(tombstone.uid, tombstone);
    this.#byName.set(nameHash, tombstone);
  }

  /** The one of the session that had this name and was removed last. */
  async of(name: SessionId): Promise<Tombstone | undefined> {
    return this.#byName.get(await hashOf(name));
  }

  /** Those of one removal, the root's first. Reads all: removals are rare. */
  async ofRoot(root: SessionUid): Promise<readonly Tombstone[]> {
    return [...this.#byUid.values()].filter((tombstone) => tombstone.root === root);
  }
}

/** The hash of a session's name. */
async function hashOf(name: SessionId): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(name));
  return encodeBase64(new Uint8Array(bytes));
}
