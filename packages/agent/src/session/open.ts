import { MillraceError } from "@millrace/core";
import { sessionId } from "@millrace/core/writing";
import type { Transcript } from "@millrace/core";
import type { FactBody, Metadata } from "@millrace/core/writing";
import type { Clock, EventLog, MakeId, SessionRecord, SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore, randomId, systemClock } from "@millrace/core/memory";
import type { Blueprint } from "../definition/blueprint.ts";
import type { Observer } from "../definition/observer.ts";
import type { Allowance, AskMode } from "../definition/tool-host.ts";
import { uniqueParts } from "./parts.ts";
import { SessionHost } from "./session-host.ts";

/** Which session is opened, and where it is kept. */
export interface OpenOptions {
  /** Left out: a new one. */
  readonly id?: string | undefined;
  /** Left out: memory, which ends with the process. */
  readonly store?: SessionStore | undefined;
  readonly log?: EventLog | undefined;
  /**
   * `false`: this process sends, decides, stops and watches, and another one drives: here no model is
   * asked, no tool runs and the session is never claimed. Left out: it is driven here.
   */
  readonly drive?: boolean | undefined;
  /** What a new session begins with. */
  readonly transcript?: Transcript | undefined;
  readonly metadata?: Metadata | undefined;
  readonly clock?: Clock | undefined;
  readonly makeId?: MakeId | undefined;
}

export interface Opening extends OpenOptions {
  readonly agent: Blueprint;
  readonly observers: readonly Observer[];
  readonly ask: AskMode;
  readonly allowance?: Allowance | undefined;
  readonly depth?: number | undefined;
}

export interface Opened {
  readonly host: SessionHost;
  /** Lets go. The session itself is closed when all who opened it here have. */
  readonly close: () => Promise<void>;
}

interface Shared {
  readonly host: Promise<SessionHost>;
  readonly agent: Blueprint;
  users: number;
}

/** Sessions that are open in this process, so that opening one twice shares it instead of fighting for it. */
const shared = new WeakMap<SessionStore, Map<string, Shared>>();

/** Opens a session, or makes it. What a crash left unfinished goes on as soon as it is open. */
export async function openHost(opening: Opening): Promise<Opened> {
  const { clock = systemClock, makeId = randomId, drive = true, transcript } = opening;
  if (!drive && transcript !== undefined) {
    const why = "a session begins with a transcript only where it is driven";
    throw new MillraceError(
      "invalid_definition",
      `drive is false and a transcript is given: ${why}`,
    );
  }
  const store = opening.store ?? memorySessionStore({ clock, makeId });
  const name = sessionId(opening.id ?? makeId("session"));
  const found = (await store.find(name)) ?? (await createOrFind(store, name, opening));
  const record = await seeded(store, found, transcript);
  return await share(store, record, opening, () =>
    SessionHost.open({
      record,
      agent: opening.agent,
      observers: opening.observers,
      store,
      log: opening.log ?? logOf(store),
      clock,
      makeId,
      ask: opening.ask,
      drive,
      allowance: opening.allowance,
      depth: opening.depth,
    }),
  );
}

/** One log for each store: handles of one session in this process must notice each other. */
const logs = new WeakMap<SessionStore, EventLog>();

function logOf(store: SessionStore): EventLog {
  const log = logs.get(store) ?? memoryEventLog();
  logs.set(store, log);
  return log;
}

/** Opens a branch of a session that is open, with the same ports. */
export async function openBranch(source: SessionHost, record: SessionRecord): Promise<Opened> {
  const { options } = source;
  const opening = { ...options, id: record.sessionId };
  return await share(options.store, record, opening, () =>
    SessionHost.open({ ...options, record }),
  );
}

async function share(
  store: SessionStore,
  { uid, sessionId: id }: SessionRecord,
  { agent, drive = true }: Pick<Opening, "agent" | "drive">,
  open: () => Promise<SessionHost>,
): Promise<Opened> {
  const sessions = shared.get(store) ?? new Map<string, Shared>();
  shared.set(store, sessions);
  const name = drive ? uid : `${uid} undriven`; // a uid has no space
  const known = sessions.get(name);
  if (known !== undefined && known.agent !== agent) {
    throw new MillraceError(
      "session_locked",
      `the session ${id} is open in this process with another agent: close it there first`,
    );
  }
  const entry = known ?? { host: open(), agent, users: 0 };
  sessions.set(name, entry);
  entry.users += 1;
  let closed = false;
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    entry.users -= 1;
    if (entry.users > 0) return;
    const host = await entry.host;
    await host.close();
    // Kept until it is closed: whoever opens it meanwhile would fight with what still ends.
    if (sessions.get(name) === entry) sessions.delete(name);
  };
  try {
    return { host: await entry.host, close };
  } catch (error) {
    sessions.delete(name);
    throw error;
  }
}

async function createOrFind(
  store: SessionStore,
  name: ReturnType<typeof sessionId>,
  { metadata }: OpenOptions,
): Promise<SessionRecord> {
  try {
    return await store.create({ sessionId: name, metadata });
  } catch (error) {
    const found =
      MillraceError.is(error) && error.code === "session_exists"
        ? await store.find(name)
        : undefined;
    if (found === undefined) throw error;
    return found;
  }
}

/** Gives a session that nothing has happened in yet the history that it begins with. */
async function seeded(
  store: SessionStore,
  record: SessionRecord,
  transcript: Transcript | undefined,
): Promise<SessionRecord> {
  if (transcript === undefined || transcript.length === 0) return record;
  const { uid, incarnation: from } = record;
  const facts = await store.read(uid);
  if (facts.some((fact) => fact.type !== "session_claimed")) return record;
  const claim = await store.claim(uid, { from });
  if (claim.outcome !== "claimed") return record;
  const bodies = uniqueParts(transcript).map((item): FactBody => ({
    type: "item_committed",
    item,
  }));
  const head = facts.length + claim.facts.length;
  await store.append(uid, { incarnation: claim.incarnation, head, bodies });
  return { ...record, incarnation: claim.incarnation, head: head + bodies.length };
}
