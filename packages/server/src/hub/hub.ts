import type { SessionId, SessionUid } from "@millrace/core";
import { systemClock } from "@millrace/core/memory";
import { noteLog } from "@millrace/core/checks";
import type { Clock, EventLog, SessionStore } from "@millrace/core/ports";
import type { Cursor, Followed } from "@millrace/core/reading";
import type { Sink } from "../sse/sink.ts";
import { deliveryRefusal, checkHubOptions, checkWatchOptions } from "./check-options.ts";
import { Delivery } from "./delivery.ts";
import { Room } from "./room.ts";
import { Viewer } from "./viewer.ts";

/** What a hub reads from, and its bounds. */
export interface HubOptions {
  readonly store: SessionStore;
  readonly log: EventLog;
  /** `systemClock` if left out. */
  readonly clock?: Clock | undefined;
  /**
   * How often a session's head is read from the store, in case an announcement was lost: 5 s by default,
   * and at least every second while the log or the store is away. The heads of all sessions are read by
   * one statement. Each read is followed by a heartbeat to the sinks.
   */
  readonly pollMs?: number | undefined;
  /** How long a session is kept after its last viewer left. */
  readonly lingerMs?: number | undefined;
  /** Facts of a session that are kept. A viewer that lacks more of them gets a snapshot. */
  readonly keptFacts?: number | undefined;
  /**
   * A snapshot has the newest items that fit into so many bytes as they are encoded, and at least one; open
   * lanes come on top. 256 KiB if left out. Core's `readItems` reads the others.
   */
  readonly snapshotBytes?: number | undefined;
  /** Messages of a session that are kept. A viewer further behind gets each open lane as one batch. */
  readonly keptMessages?: number | undefined;
}

/** Which session a viewer watches, and from where. */
export interface WatchOptions {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Where the viewer is. Left out, of another uid, or implausible: the viewer gets a snapshot. */
  readonly cursor?: Cursor | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Watches sessions for any number of viewers. */
export interface Hub extends Disposable {
  /**
   * Reads a session from a position on, without end, as core's `follow` does: every fact once and in
   * order, every token in order, whatever is lost on the way. A viewer that reads too slowly gets each
   * open lane as one batch, or a snapshot, instead of every batch.
   *
   * It ends with the session, the signal or the hub. A broken subscription is renewed, and a store that
   * is away is waited for; viewers stay. While the log is away facts come from the store at the pace of
   * the poll. A viewer without a cursor is shown at least what the store has when it comes: a page that
   * is loaded again does not go back. It throws if the session does not exist, and for a broken
   * contract. After a `return` during a wait it ends at the next message: use the signal.
   */
  readonly watch: (options: WatchOptions) => AsyncGenerator<Followed, void, undefined>;
  /**
   * Writes a session to a sink as server-sent events, by the same rules as `watch`. A message is
   * encoded once for all viewers. Nothing is queued for a sink that is full.
   *
   * It resolves when the session, the signal, the hub or the sink has ended, and rejects when the
   * session does not exist or a contract is broken. A sink that was opened is then ended, unless it ended by itself. A
   * sink that was not opened was written nothing: a server can still answer 404.
   */
  readonly deliver: (options: WatchOptions, sink: Sink) => Promise<void>;
  /** How many sessions are held now. */
  readonly sessions: () => number;
}

/**
 * A hub: for each watched session one subscription and one folded state, and gaps are filled once, for
 * any number of viewers. A viewer costs an index. Disposing of the hub ends all viewers.
 */
export function createHub(options: HubOptions): Hub {
  checkHubOptions(options, createHub);
  const { store, log, clock = systemClock } = options;
  noteLog("hub", store, log);
  const rooms = new Map<SessionUid, Room>();
  let closed = false;

  const roomOf = (uid: SessionUid, sessionId: SessionId): Room => {
    const known = rooms.get(uid);
    if (known !== undefined) return known;
    const place = { store, log, clock, uid, sessionId };
    const room: Room = new Room({
      ...place,
      pollMs: options.pollMs ?? 5_000,
      lingerMs: options.lingerMs ?? 5_000,
      keptFacts: options.keptFacts ?? 1_000,
      snapshotBytes: options.snapshotBytes ?? 256 * 1_024,
      keptMessages: options.keptMessages ?? 512,
      onEnd: () => rooms.delete(uid),
    });
    rooms.set(uid, room);
    return room;
  };

  const watch = (watched: WatchOptions): AsyncGenerator<Followed, void, undefined> => {
    checkWatchOptions({ name: "hub.watch", from: watch }, watched);
    return watchSession(watched);
  };

  async function* watchSession(watched: WatchOptions): AsyncGenerator<Followed, void, undefined> {
    const { uid, sessionId, cursor, signal } = watched;
    if (closed || signal?.aborted === true) return;
    const room = roomOf(uid, sessionId);
    let resume: (() => void) | undefined;
    const wake = (): void => resume?.();
    const viewer = new Viewer(room, cursor, { wake });
    room.enter();
    signal?.addEventListener("abort", wake, { once: true });
    try {
      while (!isAborted(signal)) {
        const [followed] = viewer.ready ? viewer.take(1) : [];
        if (followed !== undefined) yield followed;
        else if (room.end === undefined) {
          const { promise, resolve } = Promise.withResolvers<void>();
          resume = resolve;
          const leave = room.wait(resolve);
          await promise;
          leave();
        } else if ("error" in room.end) throw room.end.error;
        else return;
      }
    } finally {
      signal?.removeEventListener("abort", wake);
      room.leave();
    }
  }

  // Not async: the frame of a waiting async function would be most of the memory that a viewer costs.
  const deliver = (watched: WatchOptions, sink: Sink): Promise<void> => {
    const refused = deliveryRefusal({ name: "hub.deliver", from: deliver }, watched, sink);
    if (refused !== undefined) return Promise.reject(refused);
    const { uid, sessionId, cursor, signal } = watched;
    if (closed || signal?.aborted === true) return Promise.resolve();
    const room = roomOf(uid, sessionId);
    return new Promise((resolve, reject) => {
      const delivery = new Delivery(room, cursor, sink, (end) => {
        room.leave();
        if ("error" in end) reject(end.error);
        else resolve();
      });
      room.enter();
      delivery.start(signal);
    });
  };

  return {
    watch,
    deliver,
    sessions: () => rooms.size,
    [Symbol.dispose]: () => {
      closed = true;
      for (const room of rooms.values()) room.close();
    },
  };
}

/** A function, because the compiler would take `aborted` as unchanged across a wait. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
