import { MillraceError } from "@millrace/core";
import { isAhead, welcome } from "@millrace/core/reading";
import type { Cursor, Followed, SessionReader, Welcome } from "@millrace/core/reading";
import { frameOf, heartbeatOf } from "../sse/frame.ts";
import type { Frame } from "../sse/frame.ts";
import { Mirror } from "./mirror.ts";
import type { MirrorOptions } from "./mirror.ts";
import type { Ring } from "./ring.ts";

export interface RoomOptions extends Omit<MirrorOptions, "changed"> {
  readonly pollMs: number;
  readonly lingerMs: number;
  /** Called once, when the room is no more to be entered. */
  readonly onEnd: () => void;
}

/** Why a room is over. With an error its viewers are told. */
export interface RoomEnd {
  readonly error?: unknown;
}

/** Who is told of everything new for as long as it is attached. Neither call may throw. */
export interface Attached {
  /** There may be something new, or the room is over. */
  readonly pump: () => void;
  /** It is time to say that the connection lives. */
  readonly beat: (frame: Frame) => void;
}

/** How long is waited until what failed is tried again: doubled each time that comes to nothing. */
const pauseMs = { least: 100, most: 5_000 } as const;

/** After so many messages who is attached is told at once, so that nobody falls out of the ring by that. */
const untoldAtMost = 16;

/**
 * All who watch one session in this process, before one subscription and one state. It stays for a
 * while after the last of them left, so that a page that is loaded again finds everything there.
 */
export class Room {
  readonly #options: RoomOptions;
  readonly #mirror: Mirror;
  readonly #done = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #attached = new Set<Attached>();
  /** Changes that who is attached was not told of yet. */
  #untold = 0;
  /** While all are told: what was told last, and its frame. Most are told the same. */
  #round: { told: readonly Followed[]; frame: Frame } | undefined;
  #viewers = 0;
  /** Counts comings and goings: a linger that was begun before the last of them is void. */
  #moves = 0;
  #joined = false;
  #end: RoomEnd | undefined;
  #catchingUp: Promise<void> | undefined;

  constructor(options: RoomOptions) {
    this.#options = options;
    this.#mirror = new Mirror({ ...options, changed: () => this.#wakeAll() });
    void this.#run();
  }

  /** True once there is a state to show. */
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

  enter(): void {
    this.#viewers += 1;
    this.#moves += 1;
  }

  leave(): void {
    this.#viewers -= 1;
    this.#moves += 1;
    if (this.#viewers === 0) void this.#linger(this.#moves);
  }

  /** Calls once, as soon as there may be something new. The answer takes that back. */
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

  /** The bytes of what a viewer is told. */
  frameOf(told: readonly Followed[]): Frame {
    const round = this.#round;
    if (round?.told === told) return round.frame;
    const frame = frameOf(told);
    if (round !== undefined) {
      round.told = told;
      round.frame = frame;
    }
    return frame;
  }

  welcome(cursor: Cursor | undefined, limit: number): Welcome {
    const { facts, ring, reader } = this.#mirror;
    return welcome({ state: reader.state, facts, recent: ring }, cursor, limit);
  }

  isAhead(cursor: Cursor): boolean {
    return isAhead(cursor, this.#reader.state);
  }

  /** One read for all who ask while it is under way. Never rejects. */
  catchUp(): Promise<void> {
    this.#catchingUp ??= this.#insist(() => this.#reader.catchUp()).finally(() => {
      this.#catchingUp = undefined;
    });
    return this.#catchingUp;
  }

  close(end: RoomEnd = {}): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#done.abort();
    this.#options.onEnd();
    this.#wakeAll();
  }

  /**
   * Until the session or the room ends. When the subscription breaks viewers stay: they have what was
   * told, the store is still asked for facts, and what was missed is read once for all of them.
   */
  async #run(): Promise<void> {
    await this.#insist(async (succeeded) => {
      const leave = new AbortController();
      try {
        const signal = AbortSignal.any([this.#done.signal, leave.signal]);
        const tail = await this.#reader.subscribe(signal);
        succeeded();
        this.#begin();
        for await (const message of tail) await this.#reader.take(message);
        this.close();
      } finally {
        leave.abort(); // a subscription that nobody reads would only fill up
      }
    });
  }

  /** Does it again, after a pause, until it comes off or the room is over. Never rejects. */
  async #insist(work: (succeeded: () => void) => Promise<void>): Promise<void> {
    let pause: number = pauseMs.least;
    const succeeded = (): void => {
      pause = pauseMs.least;
    };
    while (this.#end === undefined) {
      try {
        await work(succeeded);
        return;
      } catch (error) {
        const end = this.#endBy(error);
        if (end !== undefined) this.close(end);
        await this.#options.clock.sleep(pause, this.#done.signal);
        pause = Math.min(pause * 2, pauseMs.most);
      }
    }
  }

  /** A room that never had a state has nothing to go on with, and a broken contract stays broken. */
  #endBy(error: unknown): RoomEnd | undefined {
    if (!this.#joined) return { error };
    if (!MillraceError.is(error)) return undefined;
    return error.code === "unknown_session" ? {} : { error };
  }

  /** The first time that there is a state to show. */
  #begin(): void {
    if (this.#joined) return;
    this.#joined = true;
    this.#wakeAll();
    void this.#poll();
  }

  async #poll(): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      await clock.sleep(this.#options.pollMs, this.#done.signal);
      if (this.#done.signal.aborted) return;
      try {
        await this.#reader.poll();
        this.#beat();
      } catch (error) {
        // A store that is away for a moment is asked again. What is live goes on without it.
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
    this.#pumpSoon();
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /**
   * What comes in together goes out together: a tick runs when all that is there has been taken from
   * the tail, and before anything else is waited for.
   */
  #pumpSoon(): void {
    if (this.#attached.size === 0) return;
    this.#untold += 1;
    if (this.#untold === untoldAtMost) this.#pump();
    else if (this.#untold === 1) process.nextTick(() => this.#pump());
  }

  #pump(): void {
    if (this.#untold === 0) return;
    this.#untold = 0;
    this.#round = { told: [], frame: frameOf([]) };
    for (const attached of this.#attached) attached.pump();
    this.#round = undefined;
  }

  /** The head was just read from the store, and whoever lacked facts has been told them. */
  #beat(): void {
    this.#pump();
    const frame = heartbeatOf(this.#reader.state.head);
    for (const attached of this.#attached) attached.beat(frame);
  }
}
