import type { Fact, Item, SessionState } from "@millrace/core";
import type { Batch, Clock } from "@millrace/core/ports";
import { cursorOf } from "@millrace/core/reading";
import { encodeCursor, receive } from "@millrace/core/wire";
import type { StreamEndReason } from "@millrace/core/wire";
import { endings } from "../connection/transitions.ts";
import type { EndReason } from "../connection/transitions.ts";

/** After its last subscriber a session is watched for so long: a component that is mounted anew finds it live. */
const lingerMs = 1_000;

/** Sessions of one stream at first: fewer than the server's 50, so that it has room for sub-agents at work. */
const usualPerStream = 40;

/** A session, and where its reader is. */
export interface SessionPosition {
  readonly id: string;
  readonly cursor?: string;
}

/** Items before those of a session's state. */
export interface OlderItems {
  readonly items: readonly Item[];
  /** Where the page before them ends. Undefined: they are the first ones of the session. */
  readonly from: string | undefined;
}

/** What came together of a session, and the states around it. A snapshot has no messages. */
export interface SessionChange {
  readonly before: SessionState | undefined;
  readonly state: SessionState;
  readonly messages: readonly (Fact | Batch)[];
}

/** One session as a client has it. Kept after the last subscriber left, so that a page comes back to it. */
export class WatchedSession {
  readonly id: string;
  state: SessionState | undefined;
  /** Items that were loaded by page, or that a later snapshot has left out. */
  older: OlderItems | undefined;
  /** Why nothing more comes, until it is watched again. */
  ended: StreamEndReason | undefined;
  /** A send has made it: a stream that was opened before may still report it as missing. */
  expected: boolean = false;
  /** Rises with every change. */
  version: number = 0;
  /** Messages in a row that did not fit. */
  misfits: number = 0;
  readonly listeners: Set<() => void> = new Set();
  /** Called with what a message did, before listeners. */
  readonly taps: Set<(tap: SessionChange) => void> = new Set();

  constructor(id: string) {
    this.id = id;
  }

  /**
   * Where the next stream begins: by the state, which may hold more than the id of the last message says, such as
   * a reply that another server has shown. After two misfits in a row only a snapshot helps.
   */
  get position(): SessionPosition {
    const { id, state } = this;
    if (state === undefined || this.misfits > 1) return { id };
    return { id, cursor: encodeCursor(cursorOf(state)) };
  }
}

/** What a message means for the connection that brought it. */
export type Taken =
  | { readonly type: "gap" }
  | { readonly type: "ended"; readonly reason: EndReason }
  | undefined;

/** The sessions that a client watches. Messages of all of them come in one stream, separated by their ids. */
export class WatchedSessions {
  readonly #all = new Map<string, WatchedSession>();
  readonly #byUid = new Map<string, WatchedSession>();
  readonly #changed = new Set<WatchedSession>();
  /** Sub-agents that the stream shows by itself. */
  readonly #carried = new Set<WatchedSession>();
  readonly #clock: Clock;
  /** How many sessions one stream shows. A server that allows fewer names its limit. */
  perStream: number = usualPerStream;
  /** Called when other sessions are wanted than before, or one anew. */
  onWanted: (anew: boolean) => void = () => undefined;
  /** Called when a session with listeners is missing. */
  onMissing: (session: WatchedSession) => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(id: string): WatchedSession {
    let session = this.#all.get(id);
    if (session === undefined) this.#all.set(id, (session = new WatchedSession(id)));
    return session;
  }

  /** Those with listeners that have not ended. */
  get wanted(): readonly WatchedSession[] {
    return [...this.#all.values()].filter(
      ({ listeners, ended }) => listeners.size > 0 && ended === undefined,
    );
  }

  /** Those of them that the stream does not show by itself. */
  get lacking(): readonly WatchedSession[] {
    return this.wanted.filter((session) => !this.#carried.has(session));
  }

  /** Another stream begins: it shows what it is asked for, and sub-agents that are at work then. */
  begin(): void {
    this.#carried.clear();
  }

  /** Takes one message. Listeners are called by `flush`, once for all messages that came together. */
  take(data: string, id: string): Taken {
    const session = this.#byUid.get(id.split(".", 2)[1] ?? "");
    const received = receive(session?.state, data, id);
    switch (received.outcome) {
      case "ended": {
        const { reason, sessionId } = received.ended;
        const isOne = reason === "finished" || endings[reason] === "stopped";
        if (sessionId === undefined || !isOne) return { type: "ended", reason };
        if (this.#all.has(sessionId)) this.end(sessionId, reason);
        return undefined;
      }
      case "restored": {
        const { sessionId } = received.state;
        const restored = this.#subAgent(sessionId) ?? this.#all.get(sessionId);
        if (restored !== undefined) this.#byUid.set(received.state.uid, restored);
        return this.#put(restored, received.state, []);
      }
      case "applied":
        return this.#put(session, received.state, received.messages);
      case "duplicate":
      case "stale":
        return this.#put(session, received.state);
      case "refused": {
        const { code } = received.fault;
        if (session !== undefined) session.misfits += 1;
        return code === "unsupported_version" ? { type: "ended", reason: code } : { type: "gap" };
      }
      case "gap":
        if (session === undefined) return undefined; // of one that only another tab watches
        session.misfits += 1;
        return { type: "gap" };
      case "ignored":
        return undefined;
      default:
        received satisfies never;
        return undefined;
    }
  }

  /** Watches until the result is called. A session that has ended is looked for again. */
  watch(session: WatchedSession, listener: () => void): () => void {
    const own = (): void => listener();
    session.listeners.add(own);
    // A sub-agent that has finished stays as it is.
    if (session.ended !== "finished") session.ended = undefined;
    this.onWanted(false);
    return () => {
      if (!session.listeners.delete(own) || session.listeners.size > 0) return;
      const stay = (): void => undefined;
      session.listeners.add(stay);
      this.#clock.after(lingerMs, () => {
        session.listeners.delete(stay);
        this.onWanted(false);
      });
    };
  }

  /** Ends all watching of a session and forgets its state, as if it had never been asked for. */
  forget(session: WatchedSession): void {
    session.listeners.clear();
    session.taps.clear();
    if (session.state !== undefined) this.#byUid.delete(session.state.uid);
    this.#carried.delete(session);
    session.state = session.older = session.ended = undefined;
    this.change(session);
    // Anew: it may be watched again before the stream was left.
    this.onWanted(true);
  }

  /** Nothing more comes of a session: it is not there, is gone, or may not be read any more. */
  end(id: string, reason: StreamEndReason): undefined {
    const session = this.of(id);
    const isWatched = session.listeners.size > 0;
    const isKept = reason === "revoked" || (reason === "finished" && isWatched);
    this.#carried.delete(session);
    if (reason === "not_found" && session.expected) return this.#lookAgain(session);
    // Of a sub-agent without listeners nothing is stored: it is requested when it is opened.
    session.ended = reason === "finished" && !isWatched ? undefined : reason;
    if (!isKept) session.state = session.older = undefined;
    this.change(session);
    this.onWanted(false);
    if (reason === "not_found" && isWatched) this.onMissing(session);
  }

  /** The server has stored something in this session. */
  appeared(session: WatchedSession): void {
    if (session.state !== undefined) return;
    session.expected = true;
    if (session.ended !== undefined) this.#lookAgain(session);
  }

  change(session: WatchedSession): void {
    session.version += 1;
    this.#changed.add(session);
  }

  /** Every session is shown anew: the connection has changed. */
  changeAll(): void {
    for (const session of this.#all.values()) this.change(session);
  }

  flush(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const { listeners } of changed) {
      for (const listener of listeners) guarded(listener);
    }
  }

  /** A session that was not requested: a sub-agent of one that was, or another tab's. */
  #subAgent(id: string): WatchedSession | undefined {
    const isNamed = [...this.#all.values()].some(({ state }) =>
      state?.executions.some(({ childSessionId }) => childSessionId === id),
    );
    if (!isNamed) return undefined;
    const session = this.of(id);
    this.#carried.add(session);
    return session;
  }

  #lookAgain(session: WatchedSession): undefined {
    session.expected = false;
    session.ended = undefined;
    this.onWanted(true);
  }

  #put(
    session: WatchedSession | undefined,
    state: SessionState,
    messages?: SessionChange["messages"],
  ): undefined {
    if (session === undefined) return;
    const { state: before, taps } = session;
    if (session.state !== state) this.change(session);
    if (session.state?.earlier?.before !== state.earlier?.before)
      session.older = olderThan(state, session);
    session.state = state;
    session.misfits = 0;
    session.expected = false;
    session.ended = undefined;
    if (messages !== undefined) {
      for (const tap of taps) guarded(() => tap({ before, state, messages }));
    }
  }
}

/** What a listener throws is its program's failure: reported as uncaught, and the stream goes on. */
function guarded(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** The items before those of a snapshot, as far as the reader had them. None if there would be a gap. */
function olderThan(
  { earlier, items }: SessionState,
  { state, older }: WatchedSession,
): OlderItems | undefined {
  const first = items.at(0)?.id;
  const had = [...(older?.items ?? []), ...(state?.items ?? [])];
  const at = had.findIndex(({ id }) => id === first);
  if (earlier === undefined || state === undefined || at < 1) return undefined;
  const from = older === undefined ? state.earlier && had[0]?.id : older.from;
  return { items: had.slice(0, at), from };
}
