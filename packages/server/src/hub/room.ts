import { MillraceError } from "@millrace/core";
import { endlessPause } from "@millrace/core/model";
import { isAhead, keepSubscribed, pollHead } from "@millrace/core/reading";
import type { Cursor, CatchUp, SessionReader } from "@millrace/core/reading";
import type { SessionState } from "@millrace/core";
import type { StreamEndReason } from "@millrace/core/wire";
import { Deliveries } from "./delivery.ts";
import { Mirror } from "./mirror.ts";
import type { MirrorOptions, Ring } from "./mirror.ts";

export interface RoomOptions extends Omit<MirrorOptions, "changed" | "applied"> {
  /** The period of the head check. */
  readonly pollMs: number;
  /** In [0, 1). */
  readonly random: () => number;
  /** How long the room stays open without a viewer. */
  readonly lingerMs: number;
  /** Called once, when the room closes. The hub then forgets it; a later viewer gets a new room. */
  readonly onEnd: () => void;
}

/** Why a room closed. `error` is set when it failed: `watch` throws it and `deliver` rejects with it. */
export interface RoomEnd {
  readonly error?: unknown;
  readonly reason?: StreamEndReason | undefined;
}

/** Viewers that join without a cursor within this time share one read of the head. */
const shareHeadMs = 100;

/** Flush after 16 messages, so that no delivery loses its position in the ring while a burst is read. */
const flushAfter = 16;

/**
 * One watched session in this process: one subscription to the log, one folded state, any number of
 * viewers. The hub creates it for the first viewer. It closes when the session ends or is removed,
 * when the hub is disposed of, at a broken contract, or `lingerMs` after the last viewer left. It
 * lingers so that a page that reloads is served from memory.
 *
 * A broken subscription is renewed and a failed read is retried; viewers stay. While the log is away,
 * from the first join on, viewers are served from the store at the pace of the poll. A viewer of
 * `watch` waits by `wait`; a delivery is one of `deliveries`, which are written to.
 */
export class Room {
  readonly #options: RoomOptions;
  readonly #mirror: Mirror;
  readonly #reader: SessionReader;
  readonly ring: Ring;
  readonly #done = new AbortController();
  readonly #waiting = new Set<() => void>();
  /** Each is in it while it is to be written to. */
  readonly deliveries: Deliveries;
  /** Changes not yet pushed to deliveries. */
  #unflushed = 0;
  readonly #flush = (): void => this.flush();
  #viewers = 0;
  /** Counts calls of `enter` and `leave`. A linger that began before the last of them is void. */
  #moves = 0;
  #joined = false;
  #subscribed = false;
  #storeAway = false;
  #polling = false;
  /** When the store last answered. */
  #answeredAt = -Infinity;
  #end: RoomEnd | undefined;
  #catchingUp: Promise<void> | undefined;
  /** The read of the head under way or over, when it began, and the next one, which has not begun. */
  #headRead: Promise<void> = Promise.resolve();
  #headReadAt = -Infinity;
  #nextHeadRead: Promise<void> | undefined;

  constructor(options: RoomOptions) {
    this.#options = options;
    this.#mirror = new Mirror({
      ...options,
      applied: (before, followed) => this.deliveries.applied(before, followed),
      changed: () => this.#wakeAll(),
    });
    this.#reader = this.#mirror.reader;
    this.ring = this.#mirror.ring;
    this.deliveries = new Deliveries(this.ring);
    const leavePoll = pollHead(options.store, options.clock, {
      uid: options.uid,
      everyMs: options.pollMs,
      isUrgent: () => !this.#subscribed || this.#storeAway,
      onHead: (head) => void this.#poll(head),
      onFailure: (error) => this.#fail(error),
    });
    this.#done.signal.addEventListener("abort", leavePoll, { once: true });
    void this.#run();
  }

  /** True once the facts were read: there is a state to serve viewers from. */
  get joined(): boolean {
    return this.#joined;
  }

  get end(): RoomEnd | undefined {
    return this.#end;
  }

  /** Counts a viewer in. Each call is paired with one of `leave`. */
  enter(): void {
    this.#viewers += 1;
    this.#moves += 1;
  }

  leave(): void {
    this.#viewers -= 1;
    this.#moves += 1;
    if (this.#viewers === 0) void this.#linger(this.#moves);
  }

  /** Calls `wake` once, at the next change or when the room closes. The result cancels it. */
  wait(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** The state that viewers are brought to. */
  get state(): SessionState {
    return this.#mirror.state;
  }

  /** The head, or nothing if the store has not answered of late. What waits is sent first. */
  get storeHead(): number | undefined {
    this.flush();
    const { clock, pollMs } = this.#options;
    const isRecent = clock.monotonic() - this.#answeredAt <= 2 * pollMs;
    return this.#storeAway || !isRecent ? undefined : this.#reader.state.head;
  }

  /** What brings a viewer from its cursor to the room's state, with at most `limit` facts. */
  catchUpFrom(cursor: Cursor | undefined, limit: number, budget?: number): CatchUp {
    return this.#mirror.catchUpFrom(cursor, limit, budget);
  }

  /** How many reads of the store have begun, to be given to `isAtLeast`. */
  get reads(): number {
    return this.#reader.reads;
  }

  /**
   * Whether a viewer that came after so many reads can be served, without being shown less than it may
   * have seen: what its cursor names, or without a cursor what the store had when it came.
   */
  isAtLeast(cursor: Cursor | undefined, reads: number): boolean {
    if (cursor !== undefined) return !isAhead(cursor, this.#reader.state);
    return this.#reader.hasReadSince(reads);
  }

  /**
   * Reads what the room lacks for such a viewer. A cursor may name more of a lane, which is read too
   * while there is a subscription. Calls share reads. Retried until it succeeds; never rejects.
   */
  catchUp(cursor: Cursor | undefined): Promise<void> {
    if (cursor === undefined) return (this.#nextHeadRead ??= this.#readHead(this.#headRead));
    this.#catchingUp ??= this.#retry(async () => {
      await this.#reader.poll();
      if (this.#subscribed) await this.#reader.readLanes();
    }).finally(() => {
      this.#catchingUp = undefined;
    });
    return this.#catchingUp;
  }

  /** Reads the head once for all calls before the read begins, at most once in `shareHeadMs`. */
  async #readHead(last: Promise<void>): Promise<void> {
    const { store, clock, uid } = this.#options;
    await last;
    const waitMs = this.#headReadAt + shareHeadMs - clock.monotonic();
    if (waitMs > 0) await clock.sleep(waitMs, this.#done.signal);
    this.#headRead = this.#nextHeadRead ?? last;
    this.#nextHeadRead = undefined;
    this.#headReadAt = clock.monotonic();
    await this.#retry(async () => this.#reader.poll(await store.head(uid)));
  }

  /** Ends every viewer. Later calls do nothing. */
  close(end: RoomEnd = {}): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#done.abort();
    this.#options.onEnd();
    this.#wakeAll();
  }

  /**
   * Subscribes and reads until the session ends or the room closes. When the subscription breaks, it
   * is renewed, and what was missed is read once for all viewers. Until then polls still bring facts.
   */
  async #run(): Promise<void> {
    try {
      await keepSubscribed({
        clock: this.#options.clock,
        random: this.#options.random,
        signal: this.#done.signal,
        subscribe: (signal) => this.#reader.subscribe(signal),
        onMessage: (message) => this.#reader.take(message),
        onChange: (broken) => {
          this.#subscribed = broken === undefined;
          if (broken !== undefined) this.#joinByStore();
          else {
            this.#hasAnswered();
            this.#mirror.showLanes();
            this.#begin();
          }
        },
      });
      this.close({ reason: "removed" });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A room that has no state yet does not wait for its first poll. */
  #joinByStore(): void {
    if (!this.#joined) void this.#poll();
  }

  /** Repeats the work, with a growing pause, until it succeeds or the room closes. Never rejects. */
  async #retry(work: () => Promise<void>): Promise<void> {
    const { clock, random } = this.#options;
    for (let failures = 1; this.#end === undefined; failures += 1) {
      try {
        await work();
        return;
      } catch (error) {
        this.#fail(error);
        await clock.sleep(endlessPause(failures, random()), this.#done.signal);
      }
    }
  }

  /**
   * A broken contract closes the room: a retry would not mend it. A session that is removed after it was
   * joined is an end without an error. Anything else is a store that is away, until the next poll.
   */
  #fail(error: unknown): void {
    this.#storeAway = true;
    if (!MillraceError.is(error)) return;
    const isRemoved = this.#joined && error.code === "unknown_session";
    this.close(isRemoved ? { reason: "removed" } : { error });
  }

  /** After every read; only the first one that has joined has an effect. */
  #begin(): void {
    if (this.#joined || !this.#reader.joined) return;
    this.#joined = true;
    this.#wakeAll();
  }

  /** Reads what the store has beyond the state, in case an announcement was lost. */
  async #poll(head?: number): Promise<void> {
    if (this.#polling || this.#end !== undefined) return;
    this.#polling = true;
    try {
      await this.#reader.poll(head);
      this.#hasAnswered();
      this.#begin();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#polling = false;
    }
    // What fails here is the log, whose subscription breaks by itself, or the store at the next poll.
    if (this.#subscribed) await this.#reader.repeatRequests().catch(() => undefined);
  }

  async #linger(moves: number): Promise<void> {
    const { clock, lingerMs } = this.#options;
    await clock.sleep(lingerMs, this.#done.signal);
    if (this.#moves === moves) this.close();
  }

  #wakeAll(): void {
    if (!this.#joined && this.#end === undefined) return;
    this.#flushSoon();
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /**
   * Gathers what arrives together into one frame. The tick runs when every message that is there has
   * been taken from the tail, and before any I/O is waited for.
   */
  #flushSoon(): void {
    if (this.deliveries.isEmpty) return;
    this.#unflushed += 1;
    if (this.#unflushed === flushAfter) this.flush();
    else if (this.#unflushed === 1) process.nextTick(this.#flush);
  }

  /** Writes what has arrived to all deliveries. */
  flush(): void {
    if (this.#unflushed === 0) return;
    this.#unflushed = 0;
    if (this.#end !== undefined) this.deliveries.detachAll();
    this.deliveries.flush();
  }

  #hasAnswered(): void {
    this.#storeAway = false;
    this.#answeredAt = this.#options.clock.monotonic();
  }
}
