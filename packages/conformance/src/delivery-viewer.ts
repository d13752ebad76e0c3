import { snapshot } from "@millrace/core/reading";
import { decodeCursor, encodeCursor } from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { assert, assertEqual } from "./case.ts";
import type { Stage } from "./delivery-stage.ts";
import { draftText, laneText } from "./delivery-text.ts";
import { createWitness } from "./delivery-witness.ts";

export interface ViewerOptions {
  /** The log and store as this viewer's server sees them. */
  readonly log?: EventLog | undefined;
  readonly store?: SessionStore | undefined;
  /** Called after each message: a slow viewer waits here. */
  readonly pace?: (() => Promise<void>) | undefined;
  /** Each connection is cut after this many messages, and made again. */
  readonly cutEvery?: number | undefined;
  /** After such an error the viewer comes back. Any other is a failure. */
  readonly isOutage?: ((error: unknown) => boolean) | undefined;
}

/**
 * Somebody who watches, and checks at each message that no text is told twice, left out or mixed up.
 * Keeps its state when it is cut off, and comes back with its last cursor.
 */
export interface Viewer {
  readonly state: () => SessionState;
  /** The last cursor, as the text that travels. */
  readonly cursor: () => string | undefined;
  readonly messages: () => number;
  readonly snapshots: () => number;
  readonly connections: () => number;
  /** Items whose text was not told to the end when they were committed. */
  readonly short: () => number;
  /** Follows from its cursor, or from the one given, until it is cut. */
  readonly connect: (cursor?: string) => void;
  /** Cuts the connection, at once or after this many more messages. */
  readonly cut: (messages?: number) => Promise<void>;
  /** True once it shows all that was written. */
  readonly caughtUp: () => boolean;
}

export function createViewer(stage: Stage, options: ViewerOptions = {}): Viewer {
  const { uid, sessionId, clock } = stage;
  const { store = stage.store, log = stage.log, pace, cutEvery = Infinity } = options;
  const witness = createWitness(stage);
  let cursor: string | undefined;
  let connections = 0;
  let leave = new AbortController();
  let reading: Promise<void> | undefined;
  /** How many more messages this connection brings. */
  let room = Infinity;
  /** It was cut for good, perhaps while it was coming back. */
  let gone = new AbortController();
  let failure: Error | undefined;

  const read = async (from: string | undefined, { signal }: AbortController): Promise<void> => {
    const position = from === undefined ? undefined : decodeCursor(from);
    const options = { store, log, clock, uid, sessionId, signal, cursor: position };
    connections += 1;
    assert(connections < 10_000, "a viewer that comes back without end gets nowhere");
    for await (const followed of stage.follow(options)) {
      if (signal.aborted) break;
      witness.take(followed);
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
    } else await stage.until(() => leave.signal.aborted || failure !== undefined, "the cut");
    // A slow viewer is still busy with its last message: time must pass for it to leave.
    await stage.until(() => reading === undefined, "the end of a connection");
    check();
  };
  return {
    state: () => {
      check();
      return witness.state();
    },
    cursor: () => cursor,
    messages: () => witness.messages(),
    snapshots: () => witness.snapshots(),
    connections: () => connections,
    short: () => witness.short(),
    connect,
    cut,
    caughtUp: () => {
      check();
      return isCaughtUp(stage, witness.state());
    },
  };
}

/** The reason of a cut after which the viewer comes back by itself. */
const again = "again";

function isCaughtUp(stage: Stage, state: SessionState): boolean {
  return (
    state.head === stage.head &&
    state.lanes.length === stage.open.size &&
    state.lanes.every(({ lane, epoch }) => {
      const hand = stage.open.get(lane);
      return hand?.epoch === epoch && laneText(state, lane) === draftText(hand.writer.draft());
    })
  );
}

/** Waits until all show all that was written, and compares them to the last field. */
export async function assertSame(
  stage: Stage,
  viewers: readonly Viewer[],
  stepMs?: number,
): Promise<void> {
  await stage.until(() => viewers.every((viewer) => viewer.caughtUp()), "all caught up", stepMs);
  const truth = await stage.truth();
  for (const viewer of viewers) {
    assertEqual(snapshot({ ...viewer.state(), lanes: [] }), snapshot(truth), "what it knows");
  }
}
