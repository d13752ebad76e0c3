import { MillraceError } from "@millrace/core";
import { sessionId } from "@millrace/core/writing";
import type { Actor, Transcript } from "@millrace/core";
import type { FactBody, Metadata } from "@millrace/core/writing";
import { noteLog, noteMissingLog } from "@millrace/core/checks";
import { partsToBlobs } from "@millrace/core/blobs";
import type {
  BlobStore,
  Clock,
  EventLog,
  MakeId,
  SessionRecord,
  SessionStore,
} from "@millrace/core/ports";
import { idsFrom, memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import type { Blueprint } from "../definition/blueprint.ts";
import type { Observer } from "../definition/observer.ts";
import type { Allowance, AskMode } from "../definition/tool-host.ts";
import type { HostOptions } from "./host-options.ts";
import { uniqueParts } from "./parts.ts";
import { refuseInWorkflow } from "./refuse-in-workflow.ts";
import { SessionHost } from "./session-host.ts";
import { StoreOutage } from "../work/store-outage.ts";

/** Which session to open, and where it is stored. */
export interface OpenOptions {
  /** Left out: a new session with a random id. */
  readonly id?: string | undefined;
  /** Left out: memory, which is lost with the process. */
  readonly store?: SessionStore | undefined;
  /**
   * Where live text, announcements and stops go. Left out: memory, which no other process sees. In a
   * store that several processes share the process is then warned once, by `MILLRACE_NO_LOG`.
   */
  readonly log?: EventLog | undefined;
  /**
   * Where bytes of more than 32 KiB go that are sent, or that a model or a tool makes: the session's facts
   * name them by their hash. The same for each process that opens the session. Left out: they stay in the
   * facts, and a part that names a blob is given to a model as a text.
   */
  readonly blobs?: BlobStore | undefined;
  /**
   * `false`: this process can send, approve, stop and watch, and another process drives the session.
   * Here no request is sent to a model, no tool runs and the session is never claimed. Left out: `true`.
   */
  readonly drive?: boolean | undefined;
  /** The first items of a new session. Ignored if the session has facts already. */
  readonly transcript?: Transcript | undefined;
  readonly metadata?: Metadata | undefined;
  /** The user to whom a new session belongs. Ignored if the session exists. Left out: nobody. */
  readonly owner?: string | undefined;
  /** The title of a new session. Ignored if the session exists. */
  readonly title?: string | undefined;
  /**
   * The person for whom this session is used, in each of its calls that names no other. Stored with what
   * they send and decide. Left out: those facts name nobody.
   */
  readonly actor?: Actor | undefined;
  readonly clock?: Clock | undefined;
  readonly makeId?: MakeId | undefined;
  /**
   * In [0, 1): spreads pauses, and ids are made of it unless `makeId` is given. For tests: ids are then as easy to
   * guess as it is. Left out: the machine's.
   */
  readonly random?: (() => number) | undefined;
}

/** What the agent adds to the options of its user. */
export interface Opening extends OpenOptions {
  readonly agent: Blueprint;
  readonly observers: readonly Observer[];
  readonly ask: AskMode;
  readonly allowance?: Allowance | undefined;
  readonly depth?: number | undefined;
  /** True if the session is closed after its first run. */
  readonly runsOnce?: boolean | undefined;
  /** Until this is aborted, opening waits for a store that is away. Left out: it throws the store's error. */
  readonly waits?: AbortSignal | undefined;
  /** The session, if it was found already. It is then never created. */
  readonly record?: SessionRecord | undefined;
}

export interface Opened {
  readonly host: SessionHost;
  /** Ends this use of the host. The last `close` in this process closes the host. */
  readonly close: () => Promise<void>;
}

interface Shared {
  readonly host: Promise<SessionHost>;
  readonly agent: Blueprint;
  users: number;
  /** Set once the last user has closed it. Resolves when nothing of it runs any more. */
  closing?: Promise<void>;
}

/**
 * The open hosts of this process, by store and session. Opening a session twice shares one host and one
 * driver; two drivers in one process would take the claim from each other.
 */
const shared = new WeakMap<SessionStore, Map<string, Shared>>();

/**
 * Opens a session, and creates it if it does not exist. If it is driven here, a run that a crash
 * interrupted continues at once. Called by `agent.open`, `agent.run` and sub-agents. Reads the whole
 * session from the store. Throws `session_locked` if another process holds it in a store with locks, or
 * if it is open here with another agent; errors of the store pass through.
 */
export async function openHost(opening: Opening): Promise<Opened> {
  refuseInWorkflow();
  const { clock = systemClock, random, drive = true, transcript } = opening;
  const { makeId = idsFrom(random) } = opening;
  if (!drive && transcript !== undefined) {
    const why = "a session begins with a transcript only where it is driven";
    throw new MillraceError(
      "invalid_definition",
      `drive is false and a transcript is given: ${why}`,
    );
  }
  const store = opening.store ?? memorySessionStore({ clock, makeId });
  const name = sessionId(opening.id ?? makeId("session"));
  const { agent, observers, ask, allowance, depth, runsOnce, waits } = opening;
  const reach = <T>(call: () => Promise<T>): Promise<T> =>
    waits === undefined ? call() : new StoreOutage({ clock, signal: waits, random }).retry(call);
  const find = async (): Promise<SessionRecord> =>
    opening.record ?? (await store.find(name)) ?? (await createOrFind(store, name, opening));
  const { blobs } = opening;
  const record = await seeded({ store, blobs }, await reach(find), transcript);
  const log = opening.log ?? logOf(store);
  if (agent.warnings && drive) {
    if (opening.log === undefined) noteMissingLog(store);
    noteLog("session", store, log);
  }
  const ports = { store, log, blobs, clock, makeId, random };
  const options = { ...ports, record, agent, observers, ask, drive, allowance, depth, runsOnce };
  return await share(store, record, opening, () => reach(() => SessionHost.open(options)));
}

/** The default log of each store: hosts of one session in this process must share a log. */
const logs = new WeakMap<SessionStore, EventLog>();

/** The log of a store for which none is named. */
export function logOf(store: SessionStore): EventLog {
  const log = logs.get(store) ?? memoryEventLog();
  logs.set(store, log);
  return log;
}

/** Opens a fork of an open session with the same ports, agent and observers. */
export async function openBranch(source: SessionHost, record: SessionRecord): Promise<Opened> {
  const { options } = source;
  const opening = { ...options, id: record.sessionId };
  return await share(options.store, record, opening, () =>
    SessionHost.open({ ...options, record }),
  );
}

/**
 * Returns the host of the session in this process, or opens it. Counts its users. A host that is over is
 * never returned: one that is closing is waited for, and one that failed is replaced.
 */
async function share(
  store: SessionStore,
  { uid, sessionId: id }: SessionRecord,
  { agent, drive = true }: Pick<Opening, "agent" | "drive">,
  open: () => Promise<SessionHost>,
): Promise<Opened> {
  const sessions = shared.get(store) ?? new Map<string, Shared>();
  shared.set(store, sessions);
  const name = drive ? uid : `${uid} undriven`; // a uid has no space
  for (;;) {
    const known = sessions.get(name);
    if (known?.closing !== undefined) {
      await known.closing;
      continue;
    }
    if (known !== undefined && known.agent !== agent) {
      throw new MillraceError(
        "session_locked",
        `the session ${id} is open in this process with another agent: close it there first`,
      );
    }
    const entry: Shared = known ?? { host: open(), agent, users: 0 };
    const forget = (): void => {
      if (sessions.get(name) === entry) sessions.delete(name);
    };
    sessions.set(name, entry);
    entry.users += 1;
    const close = closeOnce(entry, forget);
    try {
      const host = await entry.host;
      if (host.over() === undefined) return { host, close };
      await close();
    } catch (error) {
      forget();
      throw error;
    }
    forget();
  }
}

/** Ends one use of a host. The last one closes the host. */
function closeOnce(entry: Shared, forget: () => void): () => Promise<void> {
  let closed = false;
  return async () => {
    if (closed) return await entry.closing;
    closed = true;
    entry.users -= 1;
    if (entry.users > 0) return;
    // Forgotten after `close`: a second host would compete with work of this one that is still ending.
    entry.closing = entry.host.then((host) => host.close()).finally(forget);
    await entry.closing;
  };
}

/** Creates the session. If another process has created it meanwhile, returns that one. */
async function createOrFind(
  store: SessionStore,
  name: ReturnType<typeof sessionId>,
  { metadata, owner, title }: Opening,
): Promise<SessionRecord> {
  try {
    return await store.create({ sessionId: name, metadata, owner, title });
  } catch (error) {
    const found =
      MillraceError.is(error) && error.code === "session_exists"
        ? await store.find(name)
        : undefined;
    if (found === undefined) throw error;
    return found;
  }
}

/** Stores the transcript in a session without facts. If another process claims it first, stores nothing. */
async function seeded(
  { store, blobs }: Pick<HostOptions, "store" | "blobs">,
  record: SessionRecord,
  transcript: Transcript | undefined,
): Promise<SessionRecord> {
  if (transcript === undefined || transcript.length === 0) return record;
  const { uid, incarnation: from } = record;
  const facts = await store.read(uid);
  if (facts.some((fact) => fact.type !== "session_claimed")) return record;
  const claim = await store.claim(uid, { from });
  if (claim.outcome !== "claimed") return record;
  const bodies: FactBody[] = [];
  for (const item of uniqueParts(transcript)) {
    const parts = blobs === undefined ? item.parts : await partsToBlobs(blobs, record, item.parts);
    bodies.push({ type: "item_committed", item: { ...item, parts } });
  }
  const head = facts.length + claim.facts.length;
  await store.append(uid, { incarnation: claim.incarnation, head, bodies });
  return { ...record, incarnation: claim.incarnation, head: head + bodies.length };
}
