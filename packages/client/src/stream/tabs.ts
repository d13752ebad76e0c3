import type { Clock } from "@millrace/core/ports";
import { newKey } from "../http/requests.ts";
import { carryStream } from "./carry.ts";
import type { Carried, Passed } from "./carry.ts";
import type { SessionPosition, WatchedSessions } from "./watched.ts";

/** How tabs find each other: one of them holds a lock and the stream, and passes on what comes. */
export interface Tabs {
  /** The name of lock and channel, made of the user, once both are known. Users never share. */
  readonly name: (who: string | undefined) => string | undefined;
  /** True from the first stream on that shows that streams are scarce. */
  readonly isWorth: (url: string) => boolean;
  readonly locks: LockManager;
  readonly clock: Clock;
}

/** What tabs send each other. */
type TabMessage =
  /** The tab that leads is about to open the stream: all others answer with what they want. */
  | { readonly type: "lead" }
  | { readonly type: "want"; readonly tab: string; readonly places: readonly SessionPosition[] }
  | { readonly type: "leave"; readonly tab: string }
  /** None: a heartbeat. */
  | { readonly type: "messages"; readonly messages: readonly Passed[] };

/** How long the leader waits for the answers of the others; longer while they keep coming later. */
const gatherMs = { least: 25, most: 1_600 } as const;
/** A stream that lasted so long was opened with all answers. */
const settledMs = 5_000;

/** The tabs of this program, if its platform has locks and channels and it may share. */
export function tabsOf(share: boolean | undefined, clock: Clock): Tabs | undefined {
  const { locks } = (globalThis.navigator ?? {}) as { readonly locks?: LockManager };
  if (share === false || locks === undefined || typeof BroadcastChannel === "undefined")
    return undefined;
  if (share === undefined && typeof document === "undefined") return undefined;
  let isOn = share === true;
  return {
    locks,
    clock,
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
  const send = (message: TabMessage): void => channel.postMessage(message);
  const following = follow(carried, channel, tab, send);
  const close = (): void => {
    send({ type: "leave", tab });
    channel.close();
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    // Granted when no other tab leads, or when the one that leads is gone.
    await tabs.locks.request(name, { signal }, async () => {
      following();
      await lead(carried, channel, send, tabs.clock);
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
  send: (message: TabMessage) => void,
): () => void {
  const want = (): void =>
    send({ type: "want", tab, places: sessions.wanted.map(({ position }) => position) });
  const onMessage = ({ data }: MessageEvent<TabMessage>): void => {
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
  channel.addEventListener("message", onMessage);
  want();
  return () => channel.removeEventListener("message", onMessage);
}

/**
 * Holds the stream for all tabs. It is opened anew when one of them wants something: first it is ended, then
 * all name their positions, so that none of them moves between its answer and the stream.
 */
async function lead(
  carried: Carried,
  channel: BroadcastChannel,
  send: (message: TabMessage) => void,
  clock: Clock,
): Promise<void> {
  const { sessions, signal } = carried;
  const wants = new Map<string, readonly SessionPosition[]>();
  let changed: AbortController | undefined;
  const onMessage = ({ data }: MessageEvent<TabMessage>): void => {
    if (data.type === "leave") wants.delete(data.tab);
    if (data.type !== "want") return;
    wants.set(data.tab, data.places);
    changed?.abort();
  };
  channel.addEventListener("message", onMessage);
  // A tab that wants nothing of this stream opens it anew first. Most pages are alone.
  const pass = (messages: readonly Passed[]): void => {
    if (wants.size > 0) send({ type: "messages", messages });
  };
  let pauseMs: number = gatherMs.least;
  do {
    changed = undefined;
    wants.clear();
    send({ type: "lead" });
    await clock.sleep(pauseMs, signal);
    if (signal.aborted) return;
    changed = new AbortController();
    pauseMs = Math.min(pauseMs * 2, gatherMs.most);
    const unsettle = clock.after(settledMs, () => (pauseMs = gatherMs.least));
    const either = AbortSignal.any([signal, changed.signal]);
    const positions = (): readonly SessionPosition[] => joined(sessions, wants);
    try {
      await carryStream({ ...carried, signal: either, positions, pass });
    } catch (error) {
      if (!changed.signal.aborted) throw error;
    } finally {
      unsettle();
    }
  } while (changed.signal.aborted && !signal.aborted);
}

/** One position for each session. Tabs at different positions all begin with a snapshot. */
function joined(
  sessions: WatchedSessions,
  wants: ReadonlyMap<string, readonly SessionPosition[]>,
): readonly SessionPosition[] {
  const all = new Map<string, SessionPosition>(
    sessions.wanted.map(({ position }) => [position.id, position]),
  );
  for (const position of [...wants.values()].flat()) {
    const known = all.get(position.id);
    all.set(
      position.id,
      known === undefined || known.cursor === position.cursor ? position : { id: position.id },
    );
  }
  return [...all.values()];
}
