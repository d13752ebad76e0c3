import { newKey } from "../http/requests.ts";
import { carryStream } from "./carry.ts";
import type { Carried, Passed } from "./carry.ts";
import type { Place, WatchedSessions } from "./watched.ts";

/** How tabs find each other: one of them holds a lock and the stream, and passes on what comes. */
export interface Tabs {
  /** The name of lock and channel, made of the user, once both are known. Users never share. */
  readonly name: (who: string | undefined) => string | undefined;
  /** True from the first stream on that shows that streams are scarce. */
  readonly isWorth: (url: string) => boolean;
  readonly locks: LockManager;
}

/** What tabs tell each other. */
type Told =
  /** The tab that leads is about to open the stream: all others answer with what they want. */
  | { readonly type: "lead" }
  | { readonly type: "want"; readonly tab: string; readonly places: readonly Place[] }
  | { readonly type: "leave"; readonly tab: string }
  /** None: a heartbeat. */
  | { readonly type: "messages"; readonly messages: readonly Passed[] };

/** How long the leader waits for the answers of the others; longer while they keep coming later. */
const gatherMs = { least: 25, most: 1_600 } as const;
/** A stream that lasted so long was opened with all answers. */
const settledMs = 5_000;
/** Sessions of one stream; the server's own limit. */
const mostSessions = 50;

/** The tabs of this program, if its platform has locks and channels and it may share. */
export function tabsOf(share: boolean | undefined): Tabs | undefined {
  const { locks } = (globalThis.navigator ?? {}) as { readonly locks?: LockManager };
  if (share === false || locks === undefined || typeof BroadcastChannel === "undefined")
    return undefined;
  if (share === undefined && typeof document === "undefined") return undefined;
  let isOn = share === true;
  return {
    locks,
    name: (who) => (isOn && who !== undefined ? `millrace:${who}` : undefined),
    isWorth: (url) => {
      // A stream has no entry while it lasts. The page itself has one, and so has every answer.
      const origin = new URL("/", url).href;
      const entries = performance.getEntries() as { name: string; nextHopProtocol?: string }[];
      return (isOn ||= entries.some(
        ({ name, nextHopProtocol }) => nextHopProtocol === "http/1.1" && name.startsWith(origin),
      ));
    },
  };
}

/**
 * A stream that tabs share. The one that has the lock opens it, for the sessions of all of them; the others
 * take what it passes on. When it leaves or dies the lock goes to the next, which asks all for their
 * cursors, so that nothing is lost.
 */
export async function carryShared(carried: Carried, tabs: Tabs, name: string): Promise<void> {
  const { signal } = carried;
  const channel = new BroadcastChannel(name);
  const tab = newKey();
  // A channel has no target: only pages of one origin share it.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const tell = (told: Told): void => channel.postMessage(told);
  const following = follow(carried, channel, tab, tell);
  const close = (): void => {
    tell({ type: "leave", tab });
    channel.close();
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    // Granted when no other tab leads, or when the one that leads is gone.
    await tabs.locks.request(name, { signal }, async () => {
      following();
      await lead(carried, channel, tell);
    });
  } finally {
    signal.removeEventListener("abort", close);
    if (!signal.aborted) close();
  }
}

/** Takes what the leader passes on, until the result is called. */
function follow(
  { sessions, report }: Carried,
  channel: BroadcastChannel,
  tab: string,
  tell: (told: Told) => void,
): () => void {
  const want = (): void =>
    tell({ type: "want", tab, places: sessions.wanted.map(({ place }) => place) });
  const hear = ({ data }: MessageEvent<Told>): void => {
    if (data.type === "lead") {
      sessions.begin();
      want();
    }
    if (data.type !== "messages") return;
    report({ type: "bytes" });
    for (const [text, id] of data.messages) {
      const taken = sessions.take(text, id);
      // The end of the whole stream is the leader's business.
      if (taken?.type === "gap") report(taken);
    }
    sessions.flush();
  };
  channel.addEventListener("message", hear);
  want();
  return () => channel.removeEventListener("message", hear);
}

/**
 * Holds the stream for all tabs. It is opened anew when one of them wants something: first it is ended, then
 * all name their places, so that none of them moves between its answer and the stream.
 */
async function lead(
  carried: Carried,
  channel: BroadcastChannel,
  tell: (told: Told) => void,
): Promise<void> {
  const { sessions, signal } = carried;
  const wants = new Map<string, readonly Place[]>();
  let changed: AbortController | undefined;
  const hear = ({ data }: MessageEvent<Told>): void => {
    if (data.type === "leave") wants.delete(data.tab);
    if (data.type !== "want") return;
    wants.set(data.tab, data.places);
    changed?.abort();
  };
  channel.addEventListener("message", hear);
  // A tab that wants nothing of this stream opens it anew first. Most pages are alone.
  const pass = (messages: readonly Passed[]): void => {
    if (wants.size > 0) tell({ type: "messages", messages });
  };
  let pauseMs: number = gatherMs.least;
  do {
    changed = undefined;
    wants.clear();
    tell({ type: "lead" });
    await new Promise((resolve) => void setTimeout(resolve, pauseMs));
    if (signal.aborted) return;
    changed = new AbortController();
    pauseMs = Math.min(pauseMs * 2, gatherMs.most);
    const settled = setTimeout(() => (pauseMs = gatherMs.least), settledMs);
    const either = AbortSignal.any([signal, changed.signal]);
    const places = (): readonly Place[] => joined(sessions, wants);
    try {
      await carryStream({ ...carried, signal: either, places, pass });
    } catch (error) {
      if (!changed.signal.aborted) throw error;
    } finally {
      clearTimeout(settled);
    }
  } while (changed.signal.aborted && !signal.aborted);
}

/** One place for each session. Tabs that stand at different places all begin with a snapshot. */
function joined(
  sessions: WatchedSessions,
  wants: ReadonlyMap<string, readonly Place[]>,
): readonly Place[] {
  const all = new Map<string, Place>(sessions.wanted.map(({ place }) => [place.id, place]));
  for (const place of [...wants.values()].flat()) {
    const known = all.get(place.id);
    all.set(
      place.id,
      known === undefined || known.cursor === place.cursor ? place : { id: place.id },
    );
  }
  return [...all.values()].slice(0, mostSessions);
}
