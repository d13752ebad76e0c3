import type { Batch } from "../event/batch.ts";
import { cursorOf } from "../event/cursor.ts";
import type { Cursor } from "../event/cursor.ts";
import type { Fact } from "../event/event.ts";
import { snapshot } from "../event/snapshot.ts";
import { createChannel } from "../iterate/channel.ts";
import { defaultSnapshotBytes } from "./placed-state.ts";
import type { PlacedState } from "./placed-state.ts";
import { SessionReader } from "./session-reader.ts";
import type { SessionSource } from "./session-reader.ts";
import { welcome } from "./welcome.ts";
import type { Followed } from "./welcome.ts";

/** The session that is read, and where reading starts. */
export interface FollowOptions extends SessionSource {
  /** Where the viewer is. Left out, of another uid, or implausible: the viewer gets a snapshot. */
  readonly cursor?: Cursor | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The session as the caller has read it already, so that only what follows is read. */
  readonly start?: PlacedState | undefined;
  /**
   * A snapshot has the newest items that fit into so many bytes as they are encoded, and at least one; open
   * lanes come on top. 256 KiB if left out. `readItems` reads the others.
   */
  readonly snapshotBytes?: number | undefined;
  /** How often the head is read from the store, in case an announcement was lost. */
  readonly pollMs?: number | undefined;
}

/** Messages that wait for a slow viewer. Older ones are dropped; the reader fills the gap. */
const waitingMessages = 10_000;

/**
 * Reads a session from a position on, without end: every fact and token once and in order, whatever
 * is lost on the way. A gap is filled from the store, the log or the lane's writer, or replaced by a
 * snapshot; it is never left open. It throws when the subscription breaks: its caller calls it again,
 * with its last cursor.
 */
export async function* follow(options: FollowOptions): AsyncGenerator<Followed, void, undefined> {
  const { cursor, signal, uid, snapshotBytes = defaultSnapshotBytes } = options;
  const done = new AbortController();
  const leave = (): void => done.abort();
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted === true) leave();
  /** The last facts, until the viewer is brought to the reader's state. */
  let facts: Fact[] | undefined = [];
  /** Applied messages that the viewer has not taken: at most what one read brought. */
  const news: Followed[] = [];
  const reader = new SessionReader({
    ...options,
    factsAfter: cursor?.uid === uid ? () => cursor.head : undefined,
    onMessage: (followed) => {
      if (facts === undefined) news.push(followed);
      else if ("n" in followed.message) facts.push(followed.message);
    },
    onReset: (all) => {
      if (facts !== undefined) facts = [...all];
      else
        news.push({
          message: snapshot(reader.newest(snapshotBytes)),
          cursor: cursorOf(reader.state),
        });
    },
  });
  try {
    const tail = await reader.subscribe(done.signal);
    const source = { state: reader.state, newest: reader.newest(snapshotBytes), facts, recent: [] };
    yield* welcome(source, cursor).messages;
    facts = undefined;
    for await (const message of withTicks(tail, options, done)) {
      await (message === "tick" ? reader.poll() : reader.take(message));
      yield* news.splice(0);
    }
  } finally {
    signal?.removeEventListener("abort", leave);
    leave();
  }
}

/** The tail, with a tick now and then so that a lost announcement is noticed. */
async function* withTicks(
  tail: AsyncIterable<Fact | Batch>,
  { clock, pollMs = 5_000 }: FollowOptions,
  done: AbortController,
): AsyncGenerator<Fact | Batch | "tick", void, undefined> {
  const merged = createChannel<Fact | Batch | "tick">(waitingMessages);
  const pump = async (): Promise<void> => {
    try {
      for await (const message of tail) merged.push(message);
    } finally {
      merged.end();
    }
  };
  const tick = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await clock.sleep(pollMs, done.signal);
      merged.push("tick");
    }
  };
  // Awaited last: what came before the subscription broke is read first, then the error is thrown.
  const working = Promise.all([pump(), tick()]);
  const broken = working.then(undefined, (error: unknown) => ({ error }));
  try {
    yield* merged;
  } finally {
    done.abort();
  }
  const outcome = await broken;
  if (outcome !== undefined && "error" in outcome) throw outcome.error;
}
