import { MillraceError } from "@millrace/core";
import type {
  Checkpoint,
  Clock,
  CreateOptions,
  MakeId,
  SessionRecord,
  SessionStore,
} from "@millrace/core/ports";
import { childDetails, forkDetails, newDetails, requireFirst } from "@millrace/core/store-kit";
import type { StoreDetails } from "@millrace/core/store-kit";
import { checkJson } from "@millrace/core/wire";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { ErrorCode, Fact, SessionId, SessionUid } from "@millrace/core";
import { SessionLedger, randomId, steadyNow, systemClock } from "@millrace/core/memory";
import { checkFileOptions } from "./check-options.ts";
import { encodeSession } from "./copy.ts";
import type { FirstFacts } from "./copy.ts";
import { checkBodies, decodeFact, encodeFact } from "../fact-text.ts";
import { createWhole, makeFolder } from "./folder.ts";
import type { Fsync } from "./folder.ts";
import { factsPerBase as defaultFactsPerBase } from "./keeping.ts";
import { recordOf } from "./record.ts";
import { summaryOf } from "./summary.ts";
import { FolderSecret } from "./secret.ts";
import { createCalls } from "./session-calls.ts";
import type { CreateChild } from "./session-calls.ts";
import { SessionFolder } from "./session-folder.ts";
import type { BrokenFile } from "./session-folder.ts";
import type { SessionFile, TornTail } from "./session-file.ts";
import { verifySessionFile } from "./verify.ts";
import type { FileVerdict, FileVerifyOptions } from "./verify.ts";

/** How a file store does its work. All of it may be left out. */
export interface FileStoreOptions {
  readonly clock?: Clock | undefined;
  readonly makeId?: MakeId | undefined;
  /**
   * `always`, the default: a call resolves once its facts survive a crash of the machine; calls at the
   * same time share one wait for the disk. `never`: they survive a crash of the process. When the power
   * fails, the last seconds may be lost, and a file that lost bytes in its middle is refused.
   */
  readonly fsync?: Fsync | undefined;
  /** Called for each file that `list` leaves out because it can't be read. */
  readonly onBroken?: ((broken: BrokenFile) => void) | undefined;
  /** Called when the unfinished last line of a file was cut off. */
  readonly onTorn?: ((torn: TornTail) => void) | undefined;
}

/** A SessionStore in a folder of files, and what only files can do. */
export interface FileStore extends SessionStore, AsyncDisposable {
  /** Takes the session's lock now, instead of with the first call that writes. */
  readonly hold: (uid: SessionUid) => Promise<void>;
  /** The newest checkpoint, from a file beside the session's. */
  readonly checkpoint: (uid: SessionUid) => Promise<Checkpoint | undefined>;
  /** Needs the session's lock. While another process holds that, nothing is kept. */
  readonly keepCheckpoint: (uid: SessionUid, checkpoint: Checkpoint) => Promise<void>;
  /** Finishes the writes of a session and releases its lock. A later call takes it again. */
  readonly release: (uid: SessionUid) => Promise<void>;
  /** Checks the session's file for changes that no writer made. Throws `unknown_session`. */
  readonly verify: (sessionId: string, options?: FileVerifyOptions) => Promise<FileVerdict>;
  /** The session's facts, one line of JSON for each, without line ends. Throws `unknown_session`. */
  readonly exportSession: (sessionId: string) => AsyncIterable<string>;
  /** A new session that begins with facts that were exported, under its own name. */
  readonly importSession: (
    options: Omit<CreateOptions, "first">,
    lines: AsyncIterable<string> | Iterable<string>,
  ) => Promise<SessionRecord>;
  /** Finishes all writes and releases all locks. Calls after it throw `closed`. */
  readonly close: () => Promise<void>;
}

/**
 * The SessionStore of a program with one process: a folder with one JSON Lines file for each session,
 * which is only ever appended to. A call costs what it stores. Opening a session reads its file once, or
 * what was stored since its last checkpoint. One process at a time writes a session; others may read it meanwhile.
 */
export function fileStore(folder: string, options: FileStoreOptions = {}): FileStore {
  checkFileOptions(folder, options, fileStore);
  return openFileStore(folder, { ...options, factsPerBase: defaultFactsPerBase });
}

/** As `fileStore`. A test may ask for a base after fewer facts than is useful. */
export function openFileStore(
  folder: string,
  options: FileStoreOptions & { readonly factsPerBase: number },
): FileStore {
  const { clock = systemClock, makeId = randomId, fsync = "always", onBroken, onTorn } = options;
  const now = steadyNow(clock);
  const { factsPerBase } = options;
  const sessions = new SessionFolder({ folder, now, fsync, factsPerBase, onBroken, onTorn });
  const place = { folder, fsync, now, sessions };
  const makeOwn = () => ({ uid: sessionUid(makeId("session")), createdAt: now() });
  const create: CreateFile = async (request, begin) => {
    const details = newDetails(request, makeOwn());
    const { uid, sessionId: id } = details;
    if (await createFile(place, details, begin)) return sessions.adoptNew(uid, id);
    throw new MillraceError("session_exists", `there is a session ${id} already`);
  };
  const createChild: CreateChild = async (parent, child) => {
    const { kept } = await (await sessions.fileOf(parent)).view((reading) => reading);
    const details = childDetails(child, kept.details, makeOwn());
    if (!(await createFile(place, details, () => ({ call: "append" })))) return;
    // Asked afterwards: a removal leaves its tombstone first and then looks for children.
    await sessions.refuseRemovedParent(details.uid, child.sessionId);
    await sessions.adoptNew(details.uid, child.sessionId);
  };
  const findFile = async (id: SessionId): Promise<SessionFile> => {
    const record = await sessions.record(id);
    if (record !== undefined) return sessions.adopt(record.uid, id);
    throw new MillraceError("unknown_session", `there is no session ${id}`);
  };
  return {
    ...createCalls(sessions, new FolderSecret(folder, fsync), createChild),
    now,
    create: ({ first, ...request }) =>
      sessions.during(async () => {
        if (first !== undefined) checkBodies([first.body]);
        const file = await create(request, (ledger) => {
          if (first === undefined) return { call: "append" };
          requireFirst(ledger.accept(first.key, first.body).outcome, request.sessionId);
          return { call: "accept", key: first.key };
        });
        await file.hold().catch(ignore("session_locked")); // the session exists all the same
        return file.view(recordOf);
      }),
    find: (name) => sessions.during(async () => sessions.record(sessionId(name))),
    list: ({ after, limit = 100 } = {}) => sessions.during(() => sessions.list(after, limit)),
    page: (query) => sessions.during(() => sessions.page(query)),
    update: (uid, change) =>
      sessions.during(async () => {
        checkMetadata(uid, change.metadata);
        return (await sessions.fileOf(uid)).update(change);
      }),
    remove: (uid, options) => sessions.during(() => sessions.remove(uid, options)),
    tombstone: (name) => sessions.during(async () => sessions.tombstones.of(sessionId(name))),
    fork: (uid, { n, added = [], ...request }) =>
      sessions.during(async () => {
        checkBodies(added);
        const own = { sessionId: sessionId(request.sessionId) };
        const source = await sessions.fileOf(uid);
        const { kept } = await source.view((reading) => reading);
        const facts = await source.read({ before: n + 1 });
        const file = await create(forkDetails(request, kept.details), (ledger) => {
          ledger.load(facts.map((fact) => ({ ...fact, ...own })));
          ledger.acceptAll(added);
          return { call: "fork" };
        });
        return file.view(recordOf);
      }),
    hold: (uid) => sessions.during(async () => (await sessions.fileOf(uid)).hold()),
    release: (uid) => sessions.during(async () => sessions.known(uid)?.release()),
    verify: (name, wanted) =>
      sessions.during(async () => {
        const id = sessionId(name);
        await findFile(id).catch(ignore("corrupt_session")); // the verdict reports it
        return verifySessionFile(sessions.pathOf(id), wanted);
      }),
    ...transferCalls(sessions, findFile, create),
    close: () => sessions.close(),
    [Symbol.asyncDispose]: () => sessions.close(),
  };
}

/** Where a session's file goes. */
interface NewFilePlace {
  readonly folder: string;
  readonly fsync: Fsync;
  readonly now: () => number;
  readonly sessions: SessionFolder;
}

/** False: there is a session of this name. */
async function createFile(
  { folder, fsync, now, sessions }: NewFilePlace,
  details: StoreDetails,
  begin: BeginFile,
): Promise<boolean> {
  const { sessionId: id, metadata } = details;
  checkMetadata(id, metadata);
  const ledger = new SessionLedger({ ...details, now });
  const begun = begin(ledger);
  const summary = summaryOf({ details, changed: undefined }, ledger.row);
  await makeFolder(folder, fsync);
  const lines = encodeSession(details, { ...begun, facts: ledger.facts, summary });
  return createWhole(sessions.pathOf(id), lines, fsync);
}

/** Puts the facts with which a session's file begins into its ledger. */
type BeginFile = (ledger: SessionLedger) => Omit<FirstFacts, "facts">;

type CreateFile = (request: CreateOptions, begin: BeginFile) => Promise<SessionFile>;

/** Sessions as lines of text, out and in. */
function transferCalls(
  sessions: SessionFolder,
  findFile: (id: SessionId) => Promise<SessionFile>,
  create: CreateFile,
): Pick<FileStore, "exportSession" | "importSession"> {
  return {
    exportSession: async function* exportSession(name) {
      const facts = await sessions.during(async () => (await findFile(sessionId(name))).read());
      for (const fact of facts) yield encodeFact(fact);
    },
    importSession: (request, lines) =>
      sessions.during(async () => {
        const facts = await readFacts(sessionId(request.sessionId), lines);
        const file = await create(request, (ledger) => {
          ledger.load(facts);
          return { call: "import" };
        });
        return file.view(recordOf);
      }),
  };
}

function checkMetadata(id: string, metadata: CreateOptions["metadata"]): void {
  if (metadata === undefined || checkJson(metadata) === undefined) return;
  throw new MillraceError("invalid_event", `the metadata of ${id} is not plain JSON`);
}

async function readFacts(
  id: SessionId,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  for await (const line of lines) {
    const read = decodeFact(line);
    const n = facts.length + 1;
    if (!read.ok) throw new MillraceError("invalid_event", `fact ${n}: ${read.message}`);
    if (read.fact.n !== n) {
      throw new MillraceError("invalid_event", `expected fact ${n}, not ${read.fact.n}`);
    }
    facts.push({ ...read.fact, sessionId: id });
  }
  return facts;
}

/** Ignores an error with this code, and throws any other. */
function ignore(code: ErrorCode): (error: unknown) => void {
  return (error) => {
    if (!(MillraceError.is(error) && error.code === code)) throw error;
  };
}
