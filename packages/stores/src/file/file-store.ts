import { MillraceError } from "@millrace/core";
import type {
  Checkpoint,
  Clock,
  CreateOptions,
  MakeId,
  SessionRecord,
  SessionStore,
} from "@millrace/core/ports";
import {
  claimCall,
  forkDetails,
  isReset,
  newDetails,
  requireFirst,
} from "@millrace/core/store-kit";
import type { Floor } from "@millrace/core/store-kit";
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
import type { Entry } from "./line.ts";
import { recordOf } from "./record.ts";
import { summaryOf } from "./summary.ts";
import { FolderSecret } from "./secret.ts";
import { SessionFolder } from "./session-folder.ts";
import type { BrokenFile } from "./session-folder.ts";
import type { SessionFile, TornTail } from "./session-file.ts";
import { verifySessionFile } from "./verify.ts";
import type { FileVerdict, FileVerifyOptions } from "./verify.ts";
import type { Note } from "./writer.ts";

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
  const create: CreateFile = async (request, begin) => {
    const own = { uid: sessionUid(makeId("session")), createdAt: now() };
    const details = newDetails(request, own);
    const { uid, sessionId: id, metadata } = details;
    checkMetadata(id, metadata);
    const ledger = new SessionLedger({ ...details, now });
    const begun = begin(ledger);
    const summary = summaryOf({ details, changed: undefined }, ledger.row);
    await makeFolder(folder, fsync);
    const lines = encodeSession(details, { ...begun, facts: ledger.facts, summary });
    if (await createWhole(sessions.pathOf(id), lines, fsync)) {
      // Asked afterwards: a removal leaves its tombstone first and then looks for children.
      await sessions.refuseRemovedParent(uid, id);
      return sessions.adoptNew(uid, id);
    }
    throw new MillraceError("session_exists", `there is a session ${id} already`);
  };
  const findFile = async (id: SessionId): Promise<SessionFile> => {
    const record = await sessions.record(id);
    if (record !== undefined) return sessions.adopt(record.uid, id);
    throw new MillraceError("unknown_session", `there is no session ${id}`);
  };
  return {
    ...createCalls(sessions, new FolderSecret(folder, fsync)),
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

/** Creates a session's file with the facts that `begin` puts into its ledger. */
type CreateFile = (
  request: CreateOptions,
  begin: (ledger: SessionLedger) => Omit<FirstFacts, "facts">,
) => Promise<SessionFile>;

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

type Calls =
  | "key"
  | "read"
  | "head"
  | "floors"
  | "claimedBy"
  | "hasInput"
  | "checkpoint"
  | "keepCheckpoint"
  | "claim"
  | "accept"
  | "open"
  | "commit"
  | "append";

/** The calls that name a session by its uid, each by the rules of the ledger. */
function createCalls(sessions: SessionFolder, secret: FolderSecret): Pick<FileStore, Calls> {
  const onFile = <T>(uid: SessionUid, use: (file: SessionFile) => Promise<T>): Promise<T> =>
    sessions.during(async () => use(sessions.known(uid) ?? (await sessions.fileOf(uid))));
  const view = <T>(uid: SessionUid, read: (ledger: SessionLedger) => T): Promise<T> =>
    onFile(uid, (file) => file.view(({ ledger }) => read(ledger)));
  const write = <T>(
    uid: SessionUid,
    call: (ledger: SessionLedger) => T,
    note: (outcome: T) => Note,
    all = false,
  ): Promise<T> => onFile(uid, (file) => file.write(call, note, { all }));

  return {
    key: async (uid) => {
      await view(uid, () => undefined); // throws if the session does not exist
      return secret.keyOf(uid);
    },
    read: (uid, options) => onFile(uid, (file) => file.read(options)),
    head: (uid) => view(uid, ({ head }) => head),
    floors: (uid) => view(uid, (ledger) => ledger.floors()),
    claimedBy: (uid, by) => view(uid, (ledger) => ledger.claimedBy(by)),
    hasInput: (uid, inputId) => view(uid, (ledger) => ledger.hasInput(inputId)),
    checkpoint: (uid) => onFile(uid, (file) => file.checkpoint()),
    keepCheckpoint: (uid, checkpoint) => onFile(uid, (file) => file.keepCheckpoint(checkpoint)),
    claim: (uid, request) =>
      write(
        uid,
        (ledger) => {
          checkBodies(claimCall(request).bodies);
          return ledger.claim(request);
        },
        (answer) => noted("claim", answer, { by: request.by }),
        request.to !== undefined,
      ),
    accept: (uid, key, body) =>
      write(
        uid,
        (ledger) => {
          checkBodies([body]);
          return ledger.accept(key, body);
        },
        (answer) => noted("accept", answer, { key }),
      ),
    open: (uid, request) =>
      write(
        uid,
        (ledger) => {
          checkBodies(request.intent === undefined ? [] : [request.intent]);
          checkFloor(request);
          return ledger.open(request);
        },
        (answer) => {
          const { lane, epoch } = request;
          return answer.outcome === "opened"
            ? { call: "open", facts: answer.facts, floor: { lane, epoch } }
            : undefined;
        },
      ),
    commit: (uid, request) =>
      write(
        uid,
        (ledger) => {
          const { fact, settlement = [], ahead } = request;
          checkBodies([fact, ...settlement, ...(ahead?.bodies ?? [])]);
          return ledger.commit(request);
        },
        (answer) => noted("commit", answer),
      ),
    append: (uid, request) =>
      write(
        uid,
        (ledger) => {
          checkBodies(request.bodies);
          if (request.opens !== undefined) checkFloor(request.opens);
          return ledger.append(request);
        },
        (answer) => noted("append", answer, floorOf(request.opens)),
        request.bodies.some(isReset),
      ),
  };
}

function checkMetadata(id: string, metadata: CreateOptions["metadata"]): void {
  if (metadata === undefined || checkJson(metadata) === undefined) return;
  throw new MillraceError("invalid_event", `the metadata of ${id} is not plain JSON`);
}

function floorOf(opens: Floor | undefined): { readonly floor?: Floor } {
  return opens === undefined ? {} : { floor: { lane: opens.lane, epoch: opens.epoch } };
}

/** The line of a call that stored facts; none if it stored none. Only `open` stores a floor alone. */
function noted(
  call: Entry["call"],
  answer: { readonly outcome: string; readonly facts?: readonly Fact[] },
  besides: Pick<Entry, "key" | "by" | "floor"> = {},
): Note {
  const { facts = [] } = answer;
  return facts.length === 0 ? undefined : { call, facts, ...besides };
}

function checkFloor({ lane, epoch }: Floor): void {
  if (Number.isSafeInteger(lane) && lane >= 0 && Number.isSafeInteger(epoch) && epoch >= 0) return;
  throw new MillraceError("invalid_event", `lane ${lane} and epoch ${epoch} are not whole numbers`);
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
