import { MillraceError } from "@millrace/core";
import { isAhead, welcome } from "@millrace/core/reading";
import type { Cursor, Followed, SessionReader, Welcome } from "@millrace/core/reading";
import { frameOf, heartbeatOf } from "../sse/frame.ts";
import type { Frame } from "../sse/frame.ts";
import { Mirror } from "./mirror.ts";
import type { MirrorOptions } from "./mirror.ts";
import type { Ring } from "./ring.ts";

export interface RoomOptions extends Omit<MirrorOptions, "changed"> {
  /** The period of the head check and of the heartbeat. */
  readonly pollMs: number;
  /** How long the room stays open without a viewer. */
  readonly lingerMs: number;
  /** Called once, when the room closes. The hub then forgets it; a later viewer gets a new room. */
  readonly onEnd: () => void;
}

/** Why a room closed. `error` is set when it failed: `watch` throws it and `deliver` rejects with it. */
export interface RoomEnd {
  readonly error?: unknown;
}

/** A delivery as the room sees it: called on every change until it is detached. Must not throw. */
export interface Attached {
  /** Writes what is new to the sink, or ends the delivery if the room has closed. */
  readonly pump: () => void;
  /** Writes a heartbeat, after each poll of the store. */
  readonly beat: (frame: Frame) => void;
}

/** The pause before a failed subscription or read is retried. Doubles with every failure in a row. */
const retryMs = { least: 100, most: 5_000 } as const;

/** Flush after 16 messages, so that no delivery falls out of the ring while a burst is read. */
const flushAfter = 16;

/**
 * One watched session in this process: one subscription to the log, one folded state, any number of
 * viewers. The hub creates it for the first viewer. It closes when the session ends or is removed,
 * when the hub is disposed of, when joining fails, or `lingerMs` after the last viewer left. It
 * lingers so that a page that reloads is served from memory.
 *
 * A broken subscription is renewed and a failed read is retried; viewers stay. A viewer of `watch`
 * waits by `wait`; a delivery is attached and pumped.
 */
export class Room {
  readonly #options: RoomOptions;
  readonly #mirror: Mirror;
  readonly #done = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #attached = new Set<Attached>();
  /** Changes not yet pushed to deliveries. */
  #unflushed = 0;
  /**
   * Set during a flush: the messages that were framed last, and their frame. Most deliveries stand at
   * the same index and are sent the same frame.
   */
  #lastFramed: { messages: readonly Followed[]; frame: Frame } | undefined;
  #viewers = 0;
  /** Counts calls of `enter` and `leave`. A linger that began before the last of them is void. */
  #moves = 0;
  #joined = false;
  #end: RoomEnd | undefined;
  #catchingUp: Promise<void> | undefined;

  constructor(options: RoomOptions) {
    this.#options = options;
    this.#mirror = new Mirror({ ...options, changed: () => this.#wakeAll() });
    void this.#run();
  }

  /** True from the first successful subscription on: there is a state to serve viewers from. */
  get joined(): boolean {
    return this.#joined;
  }

  get end(): RoomEnd | undefined {
    return this.#end;
  }

  get ring(): Ring {
    return this.#mirror.ring;
  }

  get #reader(): SessionReader {
    return this.#mirror.reader;
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

  attach(attached: Attached): void {
    this.#attached.add(attached);
  }

  detach(attached: Attached): void {
    this.#attached.delete(attached);
  }

  /** The bytes of messages that a viewer has taken. */
  frameOf(messages: readonly Followed[]): Frame {
    const last = this.#lastFramed;
    if (last?.messages === messages) return last.frame;
    const frame = frameOf(messages);
    if (last !== undefined) {
      last.messages = messages;
      last.frame = frame;
    }
    return frame;
  }

  /** What brings a viewer from its cursor to the room's state, with at most `limit` facts. */
  welcome(cursor: Cursor | undefined, limit: number): Welcome {
    const { facts, ring, reader } = this.#mirror;
    const newest = reader.newest(this.#options.snapshotBytes);
    return welcome({ state: reader.state, newest, facts, recent: ring }, cursor, limit);
  }

  /** Whether a cursor is past the room's state: another process has read more of the session. */
  isAhead(cursor: Cursor): boolean {
    return isAhead(cursor, this.#reader.state);
  }

  /** Reads what the room lacks. Calls during a read share it. Retried until it succeeds; never rejects. */
  catchUp(): Promise<void> {
    this.#catchingUp ??= this.#retry(() => this.#reader.catchUp()).finally(() => {
      this.#catchingUp = undefined;
    });
    return this.#catchingUp;
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
    await this.#retry(async (succeeded) => {
      const leave = new AbortController();
      try {
        const signal = AbortSignal.any([this.#done.signal, leave.signal]);
        const tail = await this.#reader.subscribe(signal);
        succeeded();
        this.#begin();
        for await (const message of tail) await this.#reader.take(message);
        this.close();
      } finally {
        leave.abort(); // a subscription that is not read would only fill up
      }
    });
  }

  /**
   * Repeats the work, with a growing pause, until it succeeds or the room closes. Never rejects.
   * `succeeded` sets the pause back to its least, for work that succeeds and goes on.
   */
  async #retry(work: (succeeded: () => void) => Promise<void>): Promise<void> {
    let pause: number = retryMs.least;
    const succeeded = (): void => {
      pause = retryMs.least;
    };
    while (this.#end === undefined) {
      try {
        await work(succeeded);
        return;
      } catch (error) {
        const end = this.#endBy(error);
        if (end !== undefined) this.close(end);
        await this.#options.clock.sleep(pause, this.#done.signal);
        pause = Math.min(pause * 2, retryMs.most);
      }
    }
  }

  /**
   * How an error closes the room; nothing if it is worth a retry. Before the first join every error
   * closes it, since there is no state to serve. After it only broken contracts do: a retry would not
   * mend them. A removed session is an end without an error.
   */
  #endBy(error: unknown): RoomEnd | undefined {
    if (!this.#joined) return { error };
    if (!MillraceError.is(error)) return undefined;
    return error.code === "unknown_session" ? {} : { error };
  }

  /** After every successful subscription; only the first one has an effect. */
  #begin(): void {
    if (this.#joined) return;
    this.#joined = true;
    this.#wakeAll();
    void this.#poll();
  }

  /** Compares heads with the store, in case an announcement was lost, and sends a heartbeat. */
  async #poll(): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      await clock.sleep(this.#options.pollMs, this.#done.signal);
      if (this.#done.signal.aborted) return;
      try {
        await this.#reader.poll();
        this.#beat();
      } catch (error) {
        // A store that does not answer is read at the next poll. Live batches go on without it.
        const end = this.#endBy(error);
        if (end !== undefined) this.close(end);
      }
    }
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
    if (this.#attached.size === 0) return;
    this.#unflushed += 1;
    if (this.#unflushed === flushAfter) this.#flush();
    else if (this.#unflushed === 1) process.nextTick(() => this.#flush());
  }

  #flush(): void {
    if (this.#unflushed === 0) return;
    this.#unflushed = 0;
    this.#lastFramed = { messages: [], frame: frameOf([]) };
    for (const attached of this.#attached) attached.pump();
    this.#lastFramed = undefined;
  }

  /** Flushes first: a heartbeat carries the head, and the facts up to it must be sent before it. */
  #beat(): void {
    this.#flush();
    const frame = heartbeatOf(this.#reader.state.head);
    for (const attached of this.#attached) attached.beat(frame);
  }
}
