import { systemClock } from "@millrace/core/ports";
import type { Clock } from "@millrace/core/ports";
import type { AnyTools } from "@millrace/core/reading";
import { WatchedSessions } from "./stream/watched.ts";
import { newKey, Requests, errorOf } from "./http/requests.ts";
import type { TokenSource } from "./http/requests.ts";
import {
  ClientOutbox,
  forgetPage,
  memoryOutbox,
  pageIdOf,
  storageOutbox,
} from "./outbox/outbox.ts";
import type { Outbox } from "./outbox/outbox.ts";
import { createSession } from "./session/create-session.ts";
import { Sender } from "./session/sender.ts";
import type { ClientSession, ClientView, SessionDetails } from "./session/types.ts";
import { Connector } from "./stream/connector.ts";
import type { ClientConnection } from "./stream/connector.ts";
import { tabsOf } from "./stream/tabs.ts";
import type { ConnectionEvent } from "./connection/machine.ts";
import type { WatchedSession } from "./stream/watched.ts";

/** Anything that names an agent's tools by its type: `typeof millrace`. */
export interface Served {
  readonly "~agent"?: { readonly tools: AnyTools };
}

/** The tools of the agent that a server serves. */
export type ToolsOf<S> = S extends { readonly "~agent"?: infer A }
  ? NonNullable<A> extends { readonly tools: infer Tools extends AnyTools }
    ? Tools
    : AnyTools
  : AnyTools;

/** A part as a screen of this client shows it, with the types of the agent's tools: `PartOf<typeof client>`. */
export type PartOf<C> =
  C extends Client<infer Tools> ? ClientView<Tools>["items"][number]["parts"][number] : never;

/** Options of `createClient`. */
export interface ClientOptions {
  /** Where the server is mounted, such as `/agent`. */
  readonly url: string;
  /** The bearer token, or how it is got: asked before each request. Left out: the application's cookie. */
  readonly token?: string | TokenSource | undefined;
  /** The platform's own, if it is left out. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Where sends are kept until they are answered. Left out: `localStorage` in a page, else memory. */
  readonly outbox?: Outbox | undefined;
  /**
   * Whether the tabs of one user share one stream. Left out: in pages that are served by HTTP/1.1, where a
   * browser has six connections to an origin for all its tabs.
   */
  readonly shareTabs?: boolean | undefined;
  /** In [0, 1), for pauses. */
  readonly random?: (() => number) | undefined;
  /** Whose time all pauses and limits take, so that a test moves it. Left out: the machine's. */
  readonly clock?: Clock | undefined;
}

/** Which sessions are listed. */
export interface SessionQuery {
  /** Part of the title. */
  readonly q?: string | undefined;
  readonly status?: SessionDetails["status"] | undefined;
  readonly parent?: string | undefined;
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

/** A page of sessions, those with the newest activity first. */
export interface SessionList {
  readonly sessions: readonly SessionDetails[];
  readonly next?: string;
}

/** A client of a server: one stream for all sessions that are watched. All functions are bound. */
export interface Client<Tools extends AnyTools = AnyTools> extends Disposable {
  /** A session by its id, the same object each time; without an id a new one. No request. */
  readonly session: (id?: string) => ClientSession<Tools>;
  /** Own sessions. Rejects with a `MillraceError` if it is refused. */
  readonly sessions: (query?: SessionQuery) => Promise<SessionList>;
  readonly connection: ClientConnection;
  /** The one of the options. */
  readonly clock: Clock;
  /** Tries again at once: a person asks for it, or has signed in. */
  readonly reconnect: () => void;
  /** Leaves the stream and repeats nothing more. Stops no run; what is kept is sent by the next page. */
  readonly close: () => void;
}

/** Makes a client. The first request is made by the first subscription or send. */
export function createClient<S extends Served = Served>(
  options: ClientOptions,
): Client<ToolsOf<S>> {
  const { url, token, random = Math.random, clock = systemClock } = options;
  // Called as a method of another object, a browser's fetch throws.
  const call: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
  const requests = new Requests({ url, token, fetch: call, random, clock });
  const { base } = requests;
  const watched = new WatchedSessions(clock);
  const connector = new Connector({
    requests,
    sessions: watched,
    random,
    clock,
    tabs: tabsOf(options.shareTabs, clock),
  });
  const closing = new AbortController();
  const pageId = token === undefined ? pageIdOf(base) : undefined;
  const outbox = new ClientOutbox(options.outbox ?? usualOutbox(clock), requests, pageId);
  const sessions = new Map<string, { readonly session: ClientSession; readonly sender: Sender }>();

  followWanted(watched, connector);
  seekMissing({ watched, requests, random, signal: closing.signal });
  const open = (
    id: string,
    isNew: boolean,
  ): { readonly session: ClientSession; readonly sender: Sender } => {
    const known = sessions.get(id);
    if (known !== undefined) return known;
    const state = watched.of(id);
    const { signal: closed } = closing;
    const onChange = (): void => {
      watched.change(state);
      watched.flush();
    };
    const sender = new Sender({ requests, outbox, id, isNew, clock, signal: closed, onChange });
    const parts = { session: state, sender, requests, connector, closed, changed: onChange };
    const session = createSession({
      ...parts,
      watch: (listener) => watched.watch(state, listener),
      appeared: () => watched.appeared(state),
      forget: () => watched.forget(state),
      open: (other) => open(other, false).session,
    });
    const made = { session, sender };
    sessions.set(id, made);
    return made;
  };
  const senderOf = (id: string): Sender => open(id, false).sender;
  followRequests({ requests, watched, connector, outbox, senderOf });
  const page = currentPage();
  const leave = page && followPage(page, (type) => connector.take({ type }));
  const close = (): void => {
    leave?.();
    if (pageId !== undefined) forgetPage(base);
    closing.abort();
    connector.take({ type: "close" });
  };
  return {
    session: (id) => open(id ?? newKey(), id === undefined).session,
    sessions: async (query = {}) => {
      const given = Object.entries(query).filter(([, value]) => value !== undefined);
      const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
      const path = `/v1/sessions${given.length === 0 ? "" : `?${search.toString()}`}`;
      const answered = await requests.untilAnswered(path, { signal: closing.signal });
      if (!answered.ok) throw errorOf(answered.problem);
      return answered.json as unknown as SessionList; // of our server
    },
    get connection() {
      return connector.connection;
    },
    clock,
    reconnect: () => connector.take({ type: "reconnect" }),
    close,
    [Symbol.dispose]: close,
  };
}

/** What an answer brings about: it names the user, and shows that there is a network. */
function followRequests(parts: {
  readonly requests: Requests;
  readonly watched: WatchedSessions;
  readonly connector: Connector;
  readonly outbox: ClientOutbox;
  readonly senderOf: (id: string) => Sender;
}): void {
  const { requests, watched, connector, outbox, senderOf } = parts;
  const resume = async (who: string, token: string | undefined): Promise<void> => {
    // One that is on its way already is refused.
    for (const { sessionId, key, path, body } of await outbox.named(who, token))
      void senderOf(sessionId).post({ key, path, body, posted: true });
  };
  requests.onWho = (who, token) => void resume(who, token);
  requests.onAnswer = () => {
    requests.wake();
    connector.take({ type: "answered" });
  };
  requests.onFault = () => {
    watched.changeAll();
    watched.flush();
  };
}

/** Keeps the connection at what is wanted. Changes of one turn of the event loop open one stream. */
function followWanted(watched: WatchedSessions, connector: Connector): void {
  let isDue = false;
  let asked: ReadonlySet<string> = new Set();
  watched.onWanted = (anew) => {
    if (anew) asked = new Set();
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      const wanted = new Set(watched.wanted.map(({ id }) => id));
      const isMore = watched.lacking.some(({ id }) => !asked.has(id));
      asked = wanted;
      // One that is no longer wanted is left out of the next stream: it is not worth another one.
      if (isMore) connector.take({ type: "watch" });
      else if (wanted.size === 0) connector.take({ type: "unwatch" });
    });
  };
}

function usualOutbox({ now }: Clock): Outbox {
  try {
    const { localStorage, document } = globalThis as Partial<typeof globalThis>;
    if (localStorage !== undefined && document !== undefined)
      return storageOutbox(localStorage, now);
  } catch {
    // A page that may not store.
  }
  return memoryOutbox();
}

/** What of a page's globals is listened to. */
interface PageTarget {
  readonly addEventListener: (type: string, listener: (event: unknown) => void) => void;
  readonly removeEventListener: (type: string, listener: (event: unknown) => void) => void;
}

/** A page, as far as a connection depends on it. */
interface Page {
  readonly window: PageTarget;
  readonly document: PageTarget & { readonly visibilityState: string };
  readonly onLine: () => boolean;
}

type Signal = Extract<ConnectionEvent["type"], "online" | "offline" | "freeze" | "thaw" | "shown">;

/** The page of this program, if it has one. Node, Bun, Deno and workers have none. */
function currentPage(): Page | undefined {
  const { window, document, navigator } = globalThis as Partial<typeof globalThis>;
  if (window === undefined || document === undefined) return undefined;
  return { window, document, onLine: () => navigator?.onLine !== false };
}

/**
 * Passes on what a page goes through. The stream is closed in the back/forward cache and while frozen, so
 * that the page stays fit for them, and opened after. The result ends it.
 */
export function followPage(page: Page, pass: (signal: Signal) => void): () => void {
  const { window, document } = page;
  const rows: readonly (readonly [PageTarget, string, Signal])[] = [
    [window, "online", "online"],
    [window, "offline", "offline"],
    [window, "pagehide", "freeze"],
    [window, "pageshow", "thaw"],
    [document, "freeze", "freeze"],
    [document, "resume", "thaw"],
    [document, "visibilitychange", "shown"],
  ];
  const left = rows.map(([target, type, signal]) => {
    const listener = (): void => {
      if (signal !== "shown" || document.visibilityState === "visible") pass(signal);
    };
    target.addEventListener(type, listener);
    return () => target.removeEventListener(type, listener);
  });
  if (!page.onLine()) pass("offline");
  return () => {
    for (const leave of left) leave();
  };
}

/** The pauses between two looks for one session: doubled each time, and drawn from the upper half. */
const pauseMs = { least: 2_000, most: 60_000 } as const;

/**
 * Looks for sessions that were missing when they were watched, while they have listeners: another client may
 * make them, and streams don't report this.
 */
function seekMissing(parts: {
  readonly watched: WatchedSessions;
  readonly requests: Requests;
  readonly random: () => number;
  readonly signal: AbortSignal;
}): void {
  const { watched, requests, random, signal } = parts;
  const sought = new Set<WatchedSession>();
  const isMissing = ({ listeners, ended }: WatchedSession): boolean =>
    listeners.size > 0 && ended === "not_found";
  const seek = async (session: WatchedSession): Promise<void> => {
    const path = `/v1/sessions/${encodeURIComponent(session.id)}`;
    for (let range: number = pauseMs.least; ; range = Math.min(range * 2, pauseMs.most)) {
      await requests.pause(1, (range * (1 + random())) / 2, signal);
      if (!isMissing(session)) return;
      // Without an answer it is asked again later.
      const answered = await requests.attempt(path, { signal }).catch(() => undefined);
      if (!isMissing(session)) return;
      if (answered?.ok === true) return watched.appeared(session);
    }
  };
  watched.onMissing = (session) => {
    if (sought.has(session)) return;
    sought.add(session);
    void seek(session)
      .catch(() => undefined) // the client was closed
      .finally(() => sought.delete(session));
  };
}
