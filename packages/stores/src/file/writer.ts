import { lstatSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { MillraceError } from "@millrace/core";
import type { SessionLedger } from "@millrace/core/memory";
import type { Checkpoint, UpdateOutcome, UpdateRequest } from "@millrace/core/ports";
import { changeDetails } from "@millrace/core/store-kit";
import { appendAll } from "./folder.ts";
import type { Fsync } from "./folder.ts";
import { encodeEntry } from "./line.ts";
import type { Entry } from "./line.ts";
import type { Lock } from "./lock.ts";
import { Turns } from "./turns.ts";
import { readCheckpoint, writeCheckpoint } from "./checkpoint-file.ts";
import { BaseKeeper } from "./keeping.ts";
import type { Reading } from "./reading.ts";
import { recordOf } from "./record.ts";
import { changeOf, summaryOf } from "./summary.ts";

/** A file that is open for appending, and its lock. */
export interface WriterOptions {
  readonly path: string;
  readonly handle: FileHandle;
  readonly lock: Lock;
  /** Of the file to its end, read under the lock and without a torn end. */
  readonly reading: Reading;
  readonly fsync: Fsync;
  readonly factsPerBase: number;
}

/** What a call writes to the file. Undefined if it stores nothing. */
export type Note = Pick<Entry, "call" | "facts" | "key" | "by" | "floor" | "change"> | undefined;

interface Waiting {
  readonly bytes: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Bytes in one write, at most: it bounds the copy that joins a group of lines. */
const groupLength = 4 * 1024 * 1024;

/**
 * The one writer of a session's file, for as long as it holds the lock. Calls are decided in memory,
 * one after the other, and resolve once their line is on the disk. Calls that come while the disk is
 * busy share the next write. After a failed write the writer is over, since its memory is ahead of the
 * disk: the next call reads the file again with a new writer.
 */
export class SessionWriter {
  readonly #options: WriterOptions;
  readonly #queue: Waiting[] = [];
  #size: number;
  /** After all lines that were decided: how many there are, where they end, and the last one's hash. */
  #lines: number;
  #end: number;
  #hash: string;
  readonly #keeper: BaseKeeper;
  readonly #keeping = new Turns();
  /** Settles when everything decided so far is on the disk. */
  #last: Promise<void> = Promise.resolve();
  #flushing: Promise<void> | undefined;
  #ending: Promise<void> | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    const { lines, end, hash } = options.reading;
    this.#size = end;
    [this.#lines, this.#end, this.#hash] = [lines, end, hash];
    this.#keeper = new BaseKeeper(options.path, options.reading, options.factsPerBase);
  }

  get ledger(): SessionLedger {
    return this.#options.reading.ledger;
  }

  get reading(): Reading {
    return this.#options.reading;
  }

  /** Set once it takes no more calls; resolves when file and lock are released. Never rejects. */
  get ending(): Promise<void> | undefined {
    return this.#ending;
  }

  /**
   * Decides a call and resolves when it is stored. An answer that stores nothing also waits for the
   * writes before it: "duplicate" would be false if the write that it refers to failed.
   */
  async run<T>(call: (ledger: SessionLedger) => T, note: (outcome: T) => Note): Promise<T> {
    const outcome = call(this.ledger);
    const noted = note(outcome);
    if (noted !== undefined) this.#write(noted);
    await this.#last;
    return outcome;
  }

  /** Changes title and metadata, and resolves when that is stored. */
  async update(change: UpdateRequest): Promise<UpdateOutcome> {
    const { kept } = this.reading;
    const details = changeDetails(kept.details, change);
    if (details !== undefined) {
      [kept.details, kept.changed] = [details, this.#end];
      this.#write({ call: "update", facts: [], change: changeOf(details) });
    }
    const record = recordOf(this.reading);
    await this.#last;
    return { outcome: details === undefined ? "moved" : "updated", record };
  }

  /** Resolves when everything decided so far is on the disk, or rejects if it can't be. */
  settled(): Promise<void> {
    return this.#last;
  }

  /**
   * Keeps a checkpoint, and the base of the file with it. Ignored if its head is above the session's, or
   * below that of the checkpoint that is kept.
   */
  async keepCheckpoint(checkpoint: Checkpoint): Promise<void> {
    await this.#keeping.take(async () => {
      const { path, handle, lock, reading } = this.#options;
      const { uid } = reading.header;
      const state = { lines: this.#lines, end: this.#end, hash: this.#hash, settled: this.#last };
      if (this.#ending !== undefined || checkpoint.head > this.ledger.head) return;
      const keeping = this.#keeper.keep({ ...state, isHeld: () => lock.holds() });
      await this.settled();
      const kept = await readCheckpoint(path, handle, uid);
      if (checkpoint.head >= (kept?.head ?? 0) && lock.holds()) {
        await writeCheckpoint(path, { ...checkpoint, uid, end: state.end, hash: state.hash });
      }
      await keeping;
    });
  }

  /** Writes what is waiting, then releases file and lock. A failed write rejects the calls it was for. */
  async close(): Promise<void> {
    this.#ending ??= (this.#flushing ?? Promise.resolve()).then(() => this.#release());
    await this.#ending;
  }

  #write(note: NonNullable<Note>): void {
    const { head } = this.ledger;
    const { incarnation } = this.ledger.state;
    const summary = summaryOf(this.reading.kept, this.ledger.row);
    const { bytes, hash } = encodeEntry(this.#hash, { ...note, summary, head, incarnation });
    const place = { head: head - note.facts.length, at: this.#end, number: this.#lines + 1 };
    this.#options.reading.places.add(place);
    this.#keeper.note(this.#end, note);
    [this.#lines, this.#end, this.#hash] = [place.number, this.#end + bytes.length, hash];
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push({ bytes, resolve, reject });
    this.#last = promise;
    this.#flushing ??= this.#flush();
  }

  /** Never rejects: a failure rejects the calls it was for. */
  async #flush(): Promise<void> {
    await Promise.resolve(); // calls made in the same tick share one write
    while (this.#queue.length > 0) {
      const group = this.#nextGroup();
      try {
        this.#fence();
        const bytes = Buffer.concat(group.map((waiting) => waiting.bytes));
        await appendAll(this.#options.handle, bytes);
        if (this.#options.fsync === "always") await this.#options.handle.datasync();
        this.#size += bytes.length;
      } catch (error) {
        const failed = [...group, ...this.#queue.splice(0)];
        const undone = this.#undo(error);
        this.#ending ??= undone.then(() => this.#release());
        await undone;
        for (const { reject } of failed) reject(error);
        return;
      }
      for (const { resolve } of group) resolve();
    }
    this.#flushing = undefined;
  }

  #nextGroup(): readonly Waiting[] {
    let [count, length] = [0, 0];
    for (const { bytes } of this.#queue) {
      if (count > 0 && length + bytes.length > groupLength) break;
      count += 1;
      length += bytes.length;
    }
    return this.#queue.splice(0, count);
  }

  /** Throws if another process has changed the lock or the file since the last write. */
  #fence(): void {
    const { path, lock, reading } = this.#options;
    const file = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    const same = file?.ino === reading.inode && Number(file.size) === this.#size;
    if (same && lock.holds()) return;
    const what = same ? "its lock was taken" : "another process changed its file";
    throw new MillraceError("session_locked", `the session in ${path} is no longer held: ${what}`);
  }

  /** Cuts off what a failed write left. No call has resolved for it, so nothing is lost. */
  async #undo(error: unknown): Promise<void> {
    if (MillraceError.is(error)) return; // fenced: another process holds the file now
    try {
      await this.#options.handle.truncate(this.#size);
    } catch {
      // What stays is a torn end, which the next writer cuts off, or whole lines, which then count.
    }
  }

  async #release(): Promise<void> {
    const { handle, lock } = this.#options;
    await this.#keeping.take(async () => undefined);
    // A failure here affects no call: each has resolved or rejected before.
    await handle.close().catch(() => undefined);
    await lock.release().catch(() => undefined);
  }
}
