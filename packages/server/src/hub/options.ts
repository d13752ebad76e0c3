import type { SessionId, SessionUid } from "@millrace/core";
import type { Clock, EventLog, SessionRecord, SessionStore } from "@millrace/core/ports";
import type { Cursor } from "@millrace/core/reading";
import type { Encoding } from "../encoding/encoding.ts";
import type { Form } from "../encoding/steps.ts";
import type { StreamEndReason } from "@millrace/core/wire";
import type { Until } from "./delivery.ts";

/** What a hub reads from, and its bounds. */
export interface HubOptions {
  readonly store: SessionStore;
  readonly log: EventLog;
  /** `systemClock` if left out. */
  readonly clock?: Clock | undefined;
  /** In [0, 1). Spreads the times at which readers come back. `Math.random` if left out. */
  readonly random?: (() => number) | undefined;
  /**
   * How often a session's head is read from the store, in case an announcement was lost: 5 s by default,
   * and at least every second while the log or the store is away. The heads of all sessions are read by
   * one statement.
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
  /** Every so often a stream is sent a comment, which keeps its connection alive. 15 s if left out. */
  readonly heartbeatMs?: number | undefined;
  /**
   * A stream ends with `recycled` after so long, give or take 10 %, and its reader comes back with its cursor.
   * For platforms that cut connections. 30 minutes, give or take 20 %, if left out.
   */
  readonly maxMs?: number | undefined;
}

/** How often a stream is sent a comment where the options do not say. */
export const usualHeartbeatMs = 15_000;

/** Which session a viewer watches, and from where. */
export interface WatchOptions {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Where the viewer is. Left out, of another uid, or implausible: the viewer gets a snapshot. */
  readonly cursor?: Cursor | undefined;
  /** The bytes of items in a snapshot for this viewer. The hub's `snapshotBytes` if left out. */
  readonly budget?: number | undefined;
  /**
   * Ends the viewer. A stream ends with a message if the signal's reason is a `StreamEndReason`, as in
   * `controller.abort("revoked")`.
   */
  readonly signal?: AbortSignal | undefined;
}

/** A session as one stream. */
export interface DeliverOptions extends WatchOptions {
  /**
   * `steps`: messages relative to what the reader holds, where the hub can compute it. `whole`: each
   * message complete in itself. An `Encoding` of one's own for other formats. `steps` if left out.
   */
  readonly form?: Form | Encoding | undefined;
  /** Ends the stream with `finished` at the end of this run. */
  readonly until?: Until | undefined;
}

/** One of several sessions on one stream. */
export type ManySession =
  | WatchOptions
  /** A session that can't be read: its reader gets a `stream_ended`, and the others go on. */
  | { readonly sessionId: string; readonly ended: StreamEndReason };

/** Several sessions as one stream. */
export interface DeliverManyOptions {
  /** At most 50. */
  readonly sessions: readonly ManySession[];
  /**
   * Whether sub-agents are delivered while they work, also those that begin later, in all at most 50 sessions.
   * Each ends with `finished`. Left out: none.
   */
  readonly children?: boolean | undefined;
  /** Asked for each sub-agent before it is delivered. Left out: whoever is shown a session is shown its sub-agents. */
  readonly mayShow?: ((child: SessionRecord) => Promise<boolean>) | undefined;
  readonly form?: Form | undefined;
  /** Ends the whole stream, as in `WatchOptions`. The signal of a session ends that session alone. */
  readonly signal?: AbortSignal | undefined;
}

/** How a stream ended. */
export interface DeliveredEnd {
  /** What its reader was sent. Left out: its reader has left, or the signal had no such reason. */
  readonly reason?: StreamEndReason | undefined;
}

/** What a reader that can't read a stream wants. */
export interface CollectOptions extends WatchOptions {
  /** How long to wait for the first message. 0 if left out: only what is there. */
  readonly waitMs?: number | undefined;
  /** At most so many bytes of messages, and at least one message. 1 MiB if left out. */
  readonly maxBytes?: number | undefined;
}

/**
 * Where the bytes of one stream go: a connection, or anything else that can be full. Its methods are
 * called one after the other. It calls `SinkEvents` only after the method that led to them returned.
 */
export interface Sink {
  /** Called once and first, with the callbacks of the stream. */
  readonly bind: (events: SinkEvents) => void;
  /** Called once before the first bytes. The viewer's position is settled by then. */
  readonly open: () => void;
  /**
   * Takes bytes, which other sinks are given too: they must not be changed. False: the sink is full, and
   * gets nothing before it has called `drained`, but its end.
   */
  readonly write: (bytes: Uint8Array) => boolean;
  /**
   * Called at most once, after `open`, when nothing follows but these last few bytes, which it takes also
   * while it is full. Not called after `gone`.
   */
  readonly end: (last?: Uint8Array) => void;
}

/** What a sink reports to the stream that fills it. */
export interface SinkEvents {
  /** A sink that was full takes bytes again. */
  readonly drained: () => void;
  /** The reading side has closed. The stream ends. */
  readonly gone: () => void;
}
