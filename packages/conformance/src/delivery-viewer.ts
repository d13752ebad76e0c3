import { snapshot } from "@millrace/core/reading";
import { decodeCursor, encodeCursor } from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { assert, assertEqual } from "./case.ts";
import type { DeliverySession } from "./delivery-session.ts";
import { draftText, laneText } from "./delivery-text.ts";
import { createDeliveryChecker } from "./delivery-checker.ts";

export interface ViewerOptions {
  /** The log and store of this viewer's server. */
  readonly log?: EventLog | undefined;
  readonly store?: SessionStore | undefined;
  /** Awaited after each message, to make the viewer slow. */
  readonly pace?: (() => Promise<void>) | undefined;
  /** Cuts each connection after this many messages, and reconnects. */
  readonly cutEvery?: number | undefined;
  /** After an error that passes this test the viewer reconnects. Any other error is a failure. */
  readonly isOutage?: ((error: unknown) => boolean) | undefined;
}

/**
 * A client that checks at each message that no text is repeated, omitted or mixed up. Keeps its
 * state when it is cut, and reconnects with its last cursor.
 */
export interface Viewer {
  readonly state: () => SessionState;
  /** The last cursor, encoded. */
  readonly cursor: () => string | undefined;
  readonly messages: () => number;
  readonly snapshots: () => number;
  readonly connections: () => number;
  /** The number of items whose text was incomplete when they were committed. */
  readonly short: () => number;
  /** Follows from its cursor, or from the given one, until it is cut. */
  readonly connect: (cursor?: string) => void;
  /** Cuts the connection, at once or after this many more messages. */
  readonly cut: (messages?: number) => Promise<void>;
  /** True once it shows all that was written. */
  readonly caughtUp: () => boolean;
}

export function createViewer(session: DeliverySession, options: ViewerOptions = {}): Viewer {
  const { uid, sessionId, clock } = session;
  const { store = session.store, log = session.log, pace, cutEvery = Infinity } = options;
  const checker = createDeliveryChecker(session);
  let cursor: string | undefined;
  let connections = 0;
  let leave = new AbortController();
  let reading: Promise<void> | undefined;
  /** The number of messages left on this connection. */
  let room = Infinity;
  /** Aborted by the final cut, which may happen during a reconnect. */
  let gone = new AbortController();
  let failure: Error | undefined;

  const read = async (from: string | undefined, { signal }: AbortController): Promise<void> => {
    const position = from === undefined ? undefined : decodeCursor(from);
    const state = from === undefined || from !== cursor ? undefined : checker.state();
    const options = { store, log, clock, uid, sessionId, signal, cursor: position, state };
    connections += 1;
    assert(connections < 10_000, "a viewer that comes back without end gets nowhere");
    for await (const followed of session.follow(options)) {
      if (signal.aborted) break;
      checker.take(followed);
      cursor = encodeCursor(followed.cursor);
      room -= 1;
      if (room <= 0) leave.abort(cutEvery === Infinity ? undefined : again);
      await pace?.();
    }
  };
  const readOn = async (from: string | undefined): Promise<void> => {
    for (let position = from; ; position = cursor) {
      leave = new AbortController();
      room = cutEvery;
      try {
        await read(position, leave);
      } catch (error) {
        if (options.isOutage?.(error) !== true) throw error;
        leave.abort(again);
      }
      if (leave.signal.reason !== again || gone.signal.aborted) return;
    }
  };
  const check = (): void => {
    if (failure !== undefined) throw failure;
  };
  const connect = (from = cursor): void => {
    assert(reading === undefined, "the viewer is cut off");
    gone = new AbortController();
    reading = readOn(from)
      .catch((error: unknown) => {
        failure ??= error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => {
        reading = undefined;
      });
  };
  const cut = async (messages = 0): Promise<void> => {
    room = messages;
    if (messages === 0) {
      gone.abort();
      leave.abort();
    } else await session.until(() => leave.signal.aborted || failure !== undefined, "the cut");
    // A slow viewer still processes its last message: the clock must advance until it ends.
    await session.until(() => reading === undefined, "the end of a connection");
    check();
  };
  return {
    state: () => {
      check();
      return checker.state();
    },
    cursor: () => cursor,
    messages: () => checker.messages(),
    snapshots: () => checker.snapshots(),
    connections: () => connections,
    short: () => checker.short(),
    connect,
    cut,
    caughtUp: () => {
      check();
      return isCaughtUp(session, checker.state());
    },
  };
}

/** The abort reason of a cut after which the viewer reconnects. */
const again = "again";

function isCaughtUp(session: DeliverySession, state: SessionState): boolean {
  return (
    state.head === session.head &&
    state.lanes.length === session.open.size &&
    state.lanes.every(({ lane, epoch }) => {
      const writer = session.open.get(lane);
      return (
        writer?.epoch === epoch && laneText(state, lane) === draftText(writer.laneWriter.draft())
      );
    })
  );
}

/** Waits until all viewers are complete, and compares their states with the store's. */
export async function assertSame(
  session: DeliverySession,
  viewers: readonly Viewer[],
  stepMs?: number,
): Promise<void> {
  await session.until(() => viewers.every((viewer) => viewer.caughtUp()), "all caught up", stepMs);
  const truth = await session.storedState();
  for (const viewer of viewers) {
    assertEqual(snapshot({ ...viewer.state(), lanes: [] }), snapshot(truth), "what it knows");
  }
}
