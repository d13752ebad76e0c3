import { systemClock, systemRandom } from "@millrace/core/memory";
import { noteLog } from "@millrace/core/checks";
import type { SessionUid } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import { encodingOf } from "../encoding/steps.ts";
import {
  checkHubOptions,
  checkWatchOptions,
  deliveryRefusal,
  manyRefusal,
} from "./check-options.ts";
import { collectFrom } from "./collect.ts";
import type { Collected } from "./collect.ts";
import { deliverMany as deliverManyTo } from "./deliver-many.ts";
import { Delivery } from "./delivery.ts";
import type {
  CollectOptions,
  DeliverManyOptions,
  DeliverOptions,
  HubOptions,
  DeliveredEnd,
  Sink,
  WatchOptions,
} from "./options.ts";
import { usualHeartbeatMs } from "./options.ts";
import { Room } from "./room.ts";
import { Stream, Streams } from "./stream.ts";
import { Viewer } from "./viewer.ts";

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
   * encoded once for all viewers of a form. Nothing is queued for a sink that is full, and one that lacks
   * more than 512 messages or 256 KiB meanwhile is ended with `slow`.
   *
   * It resolves when the session, the signal, the hub or the sink has ended, and rejects when the
   * session does not exist or a contract is broken. A sink that was opened is then ended, unless it ended by itself. A
   * sink that was not opened was written nothing: a server can still answer 404.
   */
  readonly deliver: (options: DeliverOptions, sink: Sink) => Promise<DeliveredEnd>;
  /**
   * Writes up to 50 sessions to one sink. Each event's id is a cursor of its session, which the uid in it
   * names. A session that can't be read, or ends, is a `stream_ended` with its id; the others go on.
   * Resolves as `deliver` does, or when no session is left.
   */
  readonly deliverMany: (options: DeliverManyOptions, sink: Sink) => Promise<DeliveredEnd>;
  /**
   * The messages after a cursor, whole: at once if there are any, else at the first one within `waitMs`, else
   * none. Applied, they give the state that the stream gives. Rejects as `deliver` does.
   */
  readonly collect: (options: CollectOptions) => Promise<Collected>;
  /**
   * Ends all streams with `drain`, spread over half of the time so that their readers do not come back at one
   * moment; a stream that is opened from now on ends so at once, and what is waited for in `collect` is
   * answered with what is there. Resolves when no stream is left.
   */
  readonly drain: (options: { readonly drainMs: number }) => Promise<void>;
  /** How many sessions are held now. */
  readonly sessions: () => number;
  /** How many streams are open now. */
  readonly streams: () => number;
}

/**
 * A hub: for each watched session one subscription and one folded state, and gaps are filled once, for
 * any number of viewers. A viewer costs an index. Disposing of the hub ends all viewers.
 */
export function createHub(options: HubOptions): Hub {
  checkHubOptions(options, createHub);
  noteLog("hub", options.store, options.log);
  const { clock = systemClock, random = systemRandom } = options;
  const { store, log, pollMs = 5_000, heartbeatMs = usualHeartbeatMs } = options;
  const streams = new Streams({ ...options, random }, clock);
  /** One for each session that is watched, or was a moment ago. */
  const rooms = new Map<SessionUid, Room>();
  let isClosed = false;
  /** Aborted when nothing is to be waited for any more. */
  const hurry = new AbortController();

  /** The room of a session, which is opened if there is none. Undefined once the hub is closed. */
  const roomOf = ({ uid, sessionId }: WatchOptions): Room | undefined => {
    if (isClosed) return undefined;
    const open = rooms.get(uid);
    if (open !== undefined) return open;
    const room = new Room({
      store,
      log,
      clock,
      random,
      uid,
      sessionId,
      // A heartbeat carries a head that was read since the last one.
      pollMs: Math.min(pollMs, heartbeatMs),
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
    return watchSession(roomOf, watched);
  };
  // Not async: the frame of a waiting async function would be most of the memory that a viewer costs.
  const deliver = (delivered: DeliverOptions, sink: Sink): Promise<DeliveredEnd> => {
    const refused = deliveryRefusal({ name: "hub.deliver", from: deliver }, delivered, sink);
    if (refused !== undefined) return Promise.reject(refused);
    const { form, signal, cursor, budget, until } = delivered;
    if (signal?.aborted === true) return Promise.resolve({});
    return new Promise((resolve) => {
      const encoding = encodingOf(form);
      const stream = new Stream(streams, sink, resolve, encoding);
      if (!stream.bind(signal)) return;
      const room = roomOf(delivered);
      if (room === undefined) return stream.finish({ reason: "drain" });
      stream.begin(new Delivery({ room, encoding, stream, cursor, budget, until }));
    });
  };
  const deliverMany = (delivered: DeliverManyOptions, sink: Sink): Promise<DeliveredEnd> => {
    const refused = manyRefusal({ name: "hub.deliverMany", from: deliverMany }, delivered, sink);
    if (refused !== undefined) return Promise.reject(refused);
    return deliverManyTo({ roomOf, streams, store, clock, random }, delivered, sink);
  };
  const collect = async (wanted: CollectOptions): Promise<Collected> => {
    checkWatchOptions({ name: "hub.collect", from: collect }, wanted);
    const room = roomOf(wanted);
    if (room === undefined) return { messages: [], ended: "drain" };
    return collectFrom(room, clock, hurry.signal, wanted);
  };

  return {
    watch,
    deliver,
    deliverMany,
    collect,
    drain: ({ drainMs }) => {
      hurry.abort();
      return streams.drain(drainMs / 2);
    },
    sessions: () => rooms.size,
    streams: () => streams.size,
    [Symbol.dispose]: () => {
      hurry.abort();
      streams.endAll();
      isClosed = true;
      for (const room of rooms.values()) room.close({ reason: "drain" });
    },
  };
}

/** The messages of a session for one viewer, without end. See `Hub.watch`. */
async function* watchSession(
  roomOf: (session: WatchOptions) => Room | undefined,
  watched: WatchOptions,
): AsyncGenerator<Followed, void, undefined> {
  const { signal } = watched;
  if (isAborted(signal)) return;
  const room = roomOf(watched);
  if (room === undefined) return;
  let resume: (() => void) | undefined;
  const wake = (): void => resume?.();
  const viewer = new Viewer(room, watched, { pump: wake });
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

/** A function, because the compiler would take `aborted` as unchanged across a wait. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
