import type { Socket } from "node:net";
import type { CutKind, Faults } from "./faults.ts";
import { longestTimer } from "./wait.ts";

/** The number of queued bytes above which the source is paused. */
const highWater = 256 * 1024;

interface Piece {
  readonly bytes: Buffer;
  readonly dueMs: number;
}

/** The next action. A wait ends early when anything changes. */
type Move =
  | { readonly kind: "write"; readonly size: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "end"; readonly by: CutKind }
  | { readonly kind: "cut"; readonly by: CutKind };

export interface FaultyPipeOptions {
  readonly source: Socket;
  readonly destination: Socket;
  readonly faults: Faults;
  readonly random: () => number;
  /** Closes both ends of the connection. */
  readonly cut: (by: CutKind) => void;
}

/** Forwards the bytes of one direction of one connection, with its faults. */
export class FaultyPipe {
  delivered = 0;
  writes = 0;
  readonly #options: FaultyPipeOptions;
  #faults: Faults;
  readonly #queue: Piece[] = [];
  #head = 0;
  #queued = 0;
  /** How the source ended, and when to forward the end. */
  #end: { readonly by: CutKind; readonly dueMs: number } | undefined;
  #finished = false;
  #busy = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  /** The offset where the next slice ends. */
  #border = 0;
  #restUntil = 0;
  #paceUntil = 0;
  #stall: { readonly stall: Faults["stall"]; readonly until: number } | undefined;
  /** How many of the queued bytes the buffer has released. */
  #released = 0;

  constructor(options: FaultyPipeOptions) {
    this.#options = options;
    this.#faults = options.faults;
  }

  open(): void {
    const { source } = this.#options;
    source.on("data", (bytes: Buffer) => this.#take(bytes));
    source.once("end", () => this.#ended("fin"));
    // A source that closed without an end was reset. One that ended has already been recorded.
    source.once("close", (failed: boolean) => {
      if (failed) this.#ended("rst");
    });
    this.#turn();
  }

  /** The number of queued bytes. */
  get queued(): number {
    return this.#queued;
  }

  set(faults: Faults): void {
    this.#faults = faults;
    this.#border = this.delivered;
    this.#restUntil = 0;
    this.#paceUntil = 0;
    this.#released = 0;
    this.#turn();
  }

  flush(): void {
    this.#released = this.#queued;
    this.#turn();
  }

  /** Stops forwarding. Drops queued bytes and reads later ones to drop them. */
  stop(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#queue.length = 0;
    this.#queued = 0;
    if (!this.#options.source.destroyed) this.#options.source.resume();
  }

  #take(bytes: Buffer): void {
    if (this.#closed) return;
    const { delayMs = 0, jitterMs = 0 } = this.#faults;
    const wait = delayMs + (jitterMs === 0 ? 0 : jitterMs * this.#options.random());
    this.#queue.push({ bytes, dueMs: wait === 0 ? 0 : performance.now() + wait });
    this.#queued += bytes.length;
    this.#turn();
  }

  #ended(by: CutKind): void {
    if (this.#closed) return;
    const { delayMs = 0 } = this.#faults;
    this.#end = { by, dueMs: delayMs === 0 ? 0 : performance.now() + delayMs };
    if (by === "rst") this.#finished = false;
    this.#turn();
  }

  /**
   * Performs the actions that are due, and sets a timer for the next. Called after every change.
   */
  #turn(): void {
    if (this.#closed) return;
    this.#hold();
    if (this.#busy) return;
    clearTimeout(this.#timer);
    const move = this.#decide(performance.now());
    const { destination } = this.#options;
    switch (move.kind) {
      case "wait":
        if (move.ms <= longestTimer) this.#timer = setTimeout(() => this.#turn(), move.ms);
        return;
      case "cut":
        this.#options.cut(move.by);
        return;
      case "end":
        this.#finished = true;
        if (move.by === "fin") destination.end();
        else destination.resetAndDestroy();
        return;
      case "write":
        this.#write(move.size);
        return;
      default:
        move satisfies never;
    }
  }

  /** Pauses or resumes the source, so that a slow destination slows it down. */
  #hold(): void {
    const { source } = this.#options;
    const room = Math.max(highWater, this.#faults.buffer?.bytes ?? 0);
    const held = this.#frozen() || this.#queued >= room;
    if (source.destroyed || source.isPaused() === held) return;
    if (held) source.pause();
    else source.resume();
  }

  #frozen(): boolean {
    const { freeze } = this.#faults;
    return freeze !== undefined && this.delivered >= freeze.at;
  }

  #decide(now: number): Move {
    if (this.#frozen() || this.#finished) return forEver;
    const { cut, stall } = this.#faults;
    if (cut !== undefined && this.delivered >= cut.at) return { kind: "cut", by: cut.by };
    if (stall !== undefined && this.delivered >= stall.at) {
      if (this.#stall?.stall !== stall) this.#stall = { stall, until: now + stall.forMs };
      if (this.#stall.until > now) return { kind: "wait", ms: this.#stall.until - now };
    }
    const head = this.#queue[this.#head];
    if (head === undefined) return this.#decideEnd(now);
    if (!this.#isReleased()) return forEver;
    const due = Math.max(head.dueMs, this.#restUntil, this.#paceUntil);
    if (due > now) return { kind: "wait", ms: due - now };
    return { kind: "write", size: this.#size(head.bytes.length) };
  }

  #decideEnd(now: number): Move {
    const end = this.#end;
    if (end === undefined) return forEver;
    return end.dueMs > now ? { kind: "wait", ms: end.dueMs - now } : { kind: "end", by: end.by };
  }

  #isReleased(): boolean {
    const { buffer } = this.#faults;
    if (buffer === undefined || this.#end !== undefined) return true;
    if (this.#queued >= buffer.bytes) this.#released = this.#queued;
    return this.#released > 0;
  }

  /** The size of the next write: up to the next slice boundary or fault. */
  #size(available: number): number {
    const { slice, cut, stall, freeze, bytesPerSecond } = this.#faults;
    const limits = [available];
    for (const place of [cut?.at, stall?.at, freeze?.at]) {
      if (place !== undefined && place > this.delivered) limits.push(place - this.delivered);
    }
    // A fiftieth of a second at a time: a second's bytes in one write would not limit the rate.
    if (bytesPerSecond !== undefined) limits.push(Math.max(1, Math.floor(bytesPerSecond / 50)));
    if (slice !== undefined) {
      while (this.#border <= this.delivered) this.#border += this.#draw(slice);
      limits.push(this.#border - this.delivered);
    }
    return Math.min(...limits);
  }

  #draw({ bytes, random = false }: NonNullable<Faults["slice"]>): number {
    return random ? 1 + Math.floor(this.#options.random() * bytes) : bytes;
  }

  #write(size: number): void {
    const head = this.#queue[this.#head] as Piece;
    if (size === head.bytes.length) this.#drop();
    else this.#queue[this.#head] = { bytes: head.bytes.subarray(size), dueMs: head.dueMs };
    this.#queued -= size;
    this.#released = Math.max(0, this.#released - size);
    this.#busy = true;
    this.#options.destination.write(head.bytes.subarray(0, size), (error) => {
      this.#busy = false;
      if (error !== undefined && error !== null) return;
      this.delivered += size;
      this.writes += 1;
      this.#pace(size);
      this.#turn();
    });
  }

  #drop(): void {
    this.#head += 1;
    if (this.#head < 1024 && this.#head < this.#queue.length) return;
    this.#queue.splice(0, this.#head);
    this.#head = 0;
  }

  #pace(size: number): void {
    const { slice, bytesPerSecond } = this.#faults;
    const now = performance.now();
    if (slice?.everyMs !== undefined && this.delivered >= this.#border) {
      this.#restUntil = now + slice.everyMs;
    }
    if (bytesPerSecond !== undefined) {
      this.#paceUntil = Math.max(now, this.#paceUntil) + (size / bytesPerSecond) * 1000;
    }
  }
}

const forEver: Move = { kind: "wait", ms: Number.POSITIVE_INFINITY };
