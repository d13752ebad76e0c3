import { constants } from "node:fs";
import { open, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { MillraceError } from "@millrace/core";
import type { SessionUid } from "@millrace/core";
import type { SessionLedger } from "@millrace/core/memory";
import { appendAll, hasCode, syncFolder } from "./folder.ts";
import type { Fsync } from "./folder.ts";
import { acquireLock } from "./lock.ts";
import { readSession } from "./reading.ts";
import type { Reading } from "./reading.ts";
import { headerAt } from "./record.ts";
import { lineFeed, readBlock } from "./scan.ts";
import { Turns } from "./turns.ts";
import { SessionWriter } from "./writer.ts";
import type { Note } from "./writer.ts";

/** The end of a file that was cut off because its last append was not finished. */
export interface TornTail {
  readonly path: string;
  /** The byte at which it began. */
  readonly at: number;
  readonly length: number;
  /** The file that the cut bytes were appended to. */
  readonly keptIn: string;
}

/** A session's uid, and where its files are. */
export interface SessionFileOptions {
  readonly uid: SessionUid;
  /** Of the session's file. */
  readonly path: string;
  readonly lockPath: string;
  readonly now: () => number;
  readonly fsync: Fsync;
  readonly onTorn?: ((torn: TornTail) => void) | undefined;
}

const maxTries = 8;

/** One session's file in one process. It is read without a lock; the first call that writes takes the lock. */
export class SessionFile {
  readonly #options: SessionFileOptions;
  #reading: Reading | undefined;
  #writer: SessionWriter | undefined;
  /** Of reads and lock changes. A read continues the one before it: one at a time. */
  readonly #turns = new Turns();
  readonly #calls = new Set<Promise<unknown>>();

  constructor(options: SessionFileOptions) {
    this.#options = options;
  }

  /** True while no call is under way and no lock is held: the object can then be dropped. */
  get isIdle(): boolean {
    return this.#calls.size === 0 && this.#live() === undefined;
  }

  /** Reads the session from the memory of this process's writer, or from the disk if there is none. */
  async view<T>(read: (reading: Reading) => T): Promise<T> {
    return this.#tracked(async () => {
      const held = await this.#viewHeld(read);
      return held === undefined ? this.#turns.take(() => this.#viewDisk(read)) : held.value;
    });
  }

  /** Makes a call as the session's one writer. Takes the lock if this process does not hold it yet. */
  async write<T>(call: (ledger: SessionLedger) => T, note: (outcome: T) => Note): Promise<T> {
    return this.#tracked(async () => {
      for (let tries = 0; tries < maxTries; tries += 1) {
        const writer = await this.#hold();
        if (writer.ending === undefined) return writer.run(call, note);
        await writer.ending; // it ended while this call waited, and did nothing for it
      }
      throw new MillraceError(
        "session_locked",
        `${this.#options.path} can't be held for long enough`,
      );
    });
  }

  /** Takes the lock before any call needs it. */
  async hold(): Promise<void> {
    await this.#tracked(async () => void (await this.#hold()));
  }

  /** Waits for earlier calls, then releases the lock. A later call takes it again. */
  async release(): Promise<void> {
    await Promise.allSettled(this.#calls);
    await this.#turns.take(() => this.#close());
  }

  /** Deletes the file, under its lock. Does nothing if it is gone, or has another uid by now. */
  async remove(): Promise<void> {
    await this.#tracked(() => this.#turns.take(() => this.#remove()));
  }

  /** Counts a call as under way until it settles. */
  async #tracked<T>(work: () => Promise<T>): Promise<T> {
    const call = work();
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  #live(): SessionWriter | undefined {
    return this.#writer?.ending === undefined ? this.#writer : undefined;
  }

  /** Undefined if there is no writer, or if what it had in memory could not be written. */
  async #viewHeld<T>(read: (reading: Reading) => T): Promise<{ readonly value: T } | undefined> {
    const writer = this.#live();
    if (writer === undefined) return undefined;
    const value = read(writer.reading);
    try {
      await writer.settled();
      return { value };
    } catch {
      return undefined; // the calls that failed to write have rejected
    }
  }

  async #viewDisk<T>(read: (reading: Reading) => T): Promise<T> {
    const held = await this.#viewHeld(read); // the turn before may have taken the lock
    if (held !== undefined) return held.value;
    await this.#writer?.ending;
    const handle = await this.#open(constants.O_RDONLY);
    try {
      return read(await this.#readOn(handle));
    } finally {
      await handle.close();
    }
  }

  async #hold(): Promise<SessionWriter> {
    const live = this.#live();
    if (live !== undefined) return live;
    return this.#turns.take(async () => {
      const other = this.#live();
      if (other !== undefined) return other;
      await this.#writer?.ending;
      this.#writer = await this.#take();
      return this.#writer;
    });
  }

  async #remove(): Promise<void> {
    const { uid, path, lockPath, fsync } = this.#options;
    await this.#close();
    this.#reading = undefined;
    const lock = await acquireLock(lockPath);
    try {
      if ((await headerAt(path))?.uid !== uid) return;
      await rm(path, { force: true });
      await rm(keptIn(path), { force: true });
      await syncFolder(dirname(path), fsync);
    } finally {
      await lock.release();
    }
  }

  async #close(): Promise<void> {
    await this.#writer?.close();
    this.#writer = undefined;
  }

  async #take(): Promise<SessionWriter> {
    const { path, lockPath, fsync } = this.#options;
    const lock = await acquireLock(lockPath);
    let handle: FileHandle | undefined;
    try {
      handle = await this.#open(constants.O_RDWR | constants.O_APPEND);
      const reading = await this.#readOn(handle);
      if (reading.tail > 0) await this.#cut(handle, reading);
      this.#reading = undefined; // its ledger now belongs to the writer
      return new SessionWriter({ path, handle, lock, reading, fsync });
    } catch (error) {
      await handle?.close();
      await lock.release();
      throw error;
    }
  }

  async #open(flags: number): Promise<FileHandle> {
    try {
      return await open(this.#options.path, flags);
    } catch (error) {
      if (hasCode(error, "ENOENT")) throw this.#unknown();
      throw error;
    }
  }

  async #readOn(handle: FileHandle): Promise<Reading> {
    const { path, now, uid } = this.#options;
    const before = this.#reading;
    this.#reading = undefined; // after a failure the next reading starts from the first line
    const reading = await readSession(handle, { path, now, before });
    if (reading.header.uid !== uid) throw this.#unknown();
    this.#reading = reading;
    return reading;
  }

  /** Copies the torn end of a file into a file beside it, and only then cuts it off. */
  async #cut(handle: FileHandle, { end, tail }: Reading): Promise<void> {
    const { path, onTorn } = this.#options;
    const torn = { path, at: end, length: tail, keptIn: keptIn(path) };
    const kept = await open(torn.keptIn, "a", 0o600);
    try {
      await appendAll(kept, await readBlock(handle, end, tail));
      await appendAll(kept, Buffer.of(lineFeed));
      await kept.sync();
    } finally {
      await kept.close();
    }
    await handle.truncate(end);
    await handle.sync();
    onTorn?.(torn);
  }

  #unknown(): MillraceError {
    return new MillraceError("unknown_session", `no session has the uid ${this.#options.uid}`);
  }
}

function keptIn(path: string): string {
  return `${path}.torn`;
}
