import { MillraceError } from "../errors.ts";
import { cursorOf } from "../event/cursor.ts";
import type { Cursor } from "../event/cursor.ts";
import type { Fact } from "../event/event.ts";
import { snapshot } from "../event/snapshot.ts";
import type { SessionState } from "../event/state.ts";
import { pollHead } from "./head-poll.ts";
import { keepSubscribed } from "./keep-subscribed.ts";
import { Outbox } from "./outbox.ts";
import { defaultSnapshotBytes } from "./paged-state.ts";
import type { PagedState } from "./paged-state.ts";
import { SessionReader } from "./session-reader.ts";
import type { SessionSource } from "./session-reader.ts";
import { catchUpFrom } from "./catch-up.ts";
import type { Followed } from "./catch-up.ts";

/**
 * How a session is read now. `live`: by a subscription to the log. `polling`: the log is away, and facts
 * come from the store every second. `waiting`: the store is away.
 */
export type Connection = "live" | "polling" | "waiting";

/** The session that is read, and where reading starts. */
export interface FollowOptions extends SessionSource {
  /** Where the viewer is. Left out, of another uid, or implausible: the viewer gets a snapshot. */
  readonly cursor?: Cursor | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The session as the caller has read it already, so that only what follows is read. */
  readonly start?: PagedState | undefined;
  /**
   * A snapshot has the newest items that fit into so many bytes as they are encoded, and at least one; open
   * lanes come on top. 256 KiB if left out. `readItems` reads the others.
   */
  readonly snapshotBytes?: number | undefined;
  /** How often the head is read from the store while there is a subscription, in case an announcement was lost. */
  readonly pollMs?: number | undefined;
  /** In [0, 1). Spreads the times at which readers come back to a log that was away. `Math.random` if left out. */
  readonly random?: (() => number) | undefined;
  /** Called at each change, the first one included. Must not throw. */
  readonly onConnection?: ((connection: Connection) => void) | undefined;
}

/**
 * Reads a session from a position on: every fact and token once and in order, whatever is lost on the
 * way. A gap is filled from the store, the log or the lane's writer, or replaced by a snapshot; it is
 * never left open. A broken subscription is renewed and a store that is away is waited for, without end:
 * meanwhile facts come at the pace of the poll, or not at all, and the viewer stays.
 *
 * It ends with the session or the signal, and the viewer is then at least where the store was when it
 * began. It throws if the session does not exist, and for a broken contract. A slow viewer makes the reader
 * wait. A viewer whose cursor is past what the log still holds of a lane may be sent batches of it again,
 * which `apply` drops.
 */
export function follow(options: FollowOptions): AsyncGenerator<Followed, void, undefined> {
  return new Following(options).messages();
}

/** Options of `follow` for its own package. */
export interface FollowingOptions extends FollowOptions {
  /** The reader's state when the viewer is first brought to it. */
  readonly onJoin?: ((state: SessionState) => void) | undefined;
}

/** What was applied since the viewer was last brought to the reader's state. */
interface Missed {
  facts: Fact[];
  recent: Followed[];
}

/**
 * One viewer with a reader of its own. While the subscription holds, what the reader applies is passed
 * on. Otherwise the viewer is brought from its position to the reader's state by `catchUpFrom`: after each
 * poll with the facts alone, and with the open lanes once the subscription was made.
 */
export class Following {
  readonly #options: FollowingOptions;
  readonly #reader: SessionReader;
  readonly #outbox = new Outbox<Followed>();
  readonly #done = new AbortController();
  /** Where the viewer is after all that is in the outbox. */
  #position: Cursor | undefined;
  /** Undefined while the viewer is in step with the reader. */
  #missed: Missed | undefined = { facts: [], recent: [] };
  #joined = false;
  #subscribed = false;
  #storeAway = false;
  #polling = false;
  #connection: Connection | undefined;

  constructor(options: FollowingOptions) {
    this.#options = options;
    this.#position = options.cursor;
    this.#reader = new SessionReader({
      ...options,
      factsAfter: (head) => (this.#position?.uid === options.uid ? this.#position.head : head),
      onMessage: (followed) => this.#take(followed),
      onReset: (facts) => this.#reset(facts),
    });
  }

  async *messages(): AsyncGenerator<Followed, void, undefined> {
    const { store, clock, uid, pollMs, signal } = this.#options;
    const leave = (): void => void this.#leave();
    signal?.addEventListener("abort", leave, { once: true });
    const leavePoll = pollHead(store, clock, {
      uid,
      everyMs: pollMs,
      isUrgent: () => !this.#subscribed || this.#storeAway,
      onHead: (head) => void this.#poll(head),
      onFailure: (error) => this.#fail(error),
    });
    if (signal?.aborted === true) leave();
    else void this.#listen();
    try {
      yield* this.#outbox;
    } finally {
      signal?.removeEventListener("abort", leave);
      leavePoll();
      this.#done.abort();
    }
  }

  async #listen(): Promise<void> {
    const { clock, random } = this.#options;
    try {
      await keepSubscribed({
        clock,
        random,
        signal: this.#done.signal,
        subscribe: async (signal) => {
          const tail = await this.#reader.subscribe(signal);
          this.#subscribed = true;
          this.#storeAway = false;
          this.#resync();
          return tail;
        },
        onMessage: async (message) => {
          await this.#reader.take(message);
          await this.#outbox.drained();
        },
        onChange: (broken) => {
          if (broken !== undefined) this.#leaveLog();
          this.#report();
        },
      });
      this.#end();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The log is away, or the store: the next poll shows which. A viewer without a state does not wait for it. */
  #leaveLog(): void {
    this.#subscribed = false;
    this.#missed ??= { facts: [], recent: [] };
    if (!this.#joined) void this.#poll();
  }

  /** Reads what the store has beyond the state, once the viewer has taken what is there. */
  async #poll(head?: number): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    try {
      await this.#outbox.drained();
      if (this.#done.signal.aborted) return;
      await this.#reader.poll(head);
      this.#storeAway = false;
      if (!this.#subscribed) this.#resync();
      this.#report();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#polling = false;
    }
    // What fails here is the log, whose subscription breaks by itself, or the store at the next poll.
    if (this.#subscribed) await this.#reader.repeatRequests().catch(() => undefined);
  }

  /** Brings the viewer to the reader's state. Without a subscription lanes may be read in part: they are left out. */
  #resync(): void {
    const { state, joined } = this.#reader;
    if (!joined || this.#missed === undefined || this.#done.signal.aborted) return;
    const shown = this.#shown(state);
    const newest = this.#shown(this.#newest);
    const { facts } = this.#missed;
    const recent = this.#joined ? this.#missed.recent : []; // a lane is restated to a viewer that joins
    this.#pass(catchUpFrom({ state: shown, newest, facts, recent }, this.#position).messages);
    this.#missed = this.#subscribed ? undefined : { facts: [], recent: [] };
    if (!this.#joined) this.#options.onJoin?.(state);
    this.#joined = true;
  }

  #take(followed: Followed): void {
    if (this.#missed === undefined) return this.#pass([followed]);
    this.#missed.recent.push(followed);
    if ("n" in followed.message) this.#missed.facts.push(followed.message);
  }

  #reset(facts: readonly Fact[]): void {
    if (this.#missed !== undefined) this.#missed = { facts: [...facts], recent: [] };
    else {
      const { state } = this.#reader;
      this.#pass([{ message: snapshot(this.#newest), cursor: cursorOf(state) }]);
    }
  }

  /** The reader's state with the newest items, as a viewer that joins is sent it. */
  get #newest(): SessionState {
    return this.#reader.newest(this.#options.snapshotBytes ?? defaultSnapshotBytes);
  }

  #shown(state: SessionState): SessionState {
    return this.#subscribed ? state : { ...state, lanes: [] };
  }

  #pass(messages: readonly Followed[]): void {
    this.#position = messages.at(-1)?.cursor ?? this.#position;
    this.#outbox.push(messages);
  }

  /** A broken contract ends the viewer, a removed session without an error; anything else is a pause. */
  #fail(error: unknown): void {
    if (MillraceError.is(error)) {
      const removed = this.#joined && error.code === "unknown_session";
      this.#end(removed ? {} : { error });
      return;
    }
    this.#storeAway = true;
    this.#report();
  }

  /** What has arrived is still delivered. A viewer that leaves before it was served gets what the store has. */
  async #leave(): Promise<void> {
    if (!this.#joined) {
      await this.#reader.poll().then(
        () => this.#resync(),
        () => undefined,
      );
    }
    this.#done.abort();
    if (!this.#subscribed) this.#end(); // else the subscription ends, after what it holds
  }

  #end(end: { readonly error?: unknown } = {}): void {
    this.#done.abort();
    this.#outbox.end(end);
  }

  #report(): void {
    const connection = this.#storeAway ? "waiting" : this.#subscribed ? "live" : "polling";
    if (connection === this.#connection || this.#done.signal.aborted) return;
    this.#connection = connection;
    this.#options.onConnection?.(connection);
  }
}
