import { constants } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { MillraceError } from "@millrace/core";
import type { Fact, SessionUid } from "@millrace/core";
import type { SessionLedger } from "@millrace/core/memory";
import type { Checkpoint, ReadOptions, UpdateOutcome, UpdateRequest } from "@millrace/core/ports";
import { rangeOf } from "@millrace/core/store-kit";
import { readCheckpoint } from "./checkpoint-file.ts";
import { readRange } from "./earlier.ts";
import { appendAll, hasCode, syncFolder } from "./folder.ts";
import type { Fsync } from "./folder.ts";
import { LostTableError } from "./id-table.ts";
import { acquireLock } from "./lock.ts";
import { openOwn } from "./own-file.ts";
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
  readonly factsPerBase: number;
  readonly onTorn?: ((torn: TornTail) => void) | undefined;
}

const maxTries = 8;
/** How the file of torn ends is opened. */
const keeping = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/** One session's file in one process. It is read without a lock; the first call that writes takes the lock. */
export class SessionFile {
  readonly #options: SessionFileOptions;
  #reading: Reading | undefined;
  #writer: SessionWriter | undefined;
  /** Whether the lock is kept until it is released. It is not for a checkpoint alone. */
  #isWanted = false;
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

  /**
   * Reads the session from the memory of this process's writer, or from the disk if there is none. If
   * `read` looks something up and the table of ids is lost, all lines are read.
   */
  async view<T>(read: (reading: Reading) => T): Promise<T> {
    return this.#tracked(async () => {
      try {
        const held = await this.#viewHeld(read);
        return held === undefined ? await this.#turns.take(() => this.#viewDisk(read)) : held.value;
      } catch (error) {
        if (!(error instanceof LostTableError)) throw error;
        return this.#turns.take(() =>
          this.#withFile(async (handle) => read(await this.#readOn(handle, true))),
        );
      }
    });
  }

  /** Reads facts: from memory, and from the disk those that are not there. */
  async read(options: ReadOptions = {}): Promise<readonly Fact[]> {
    const chosen = await this.view(({ ledger, header, stored }) => {
      const range = rangeOf(ledger.head, options);
      const from = ledger.head - ledger.facts.length;
      const facts = ledger.facts.slice(
        Math.max(0, range.first - from),
        Math.max(0, range.last - from),
      );
      const last = Math.min(range.last, from);
      const rest =
        stored !== undefined && range.first < last ? { first: range.first, last } : undefined;
      return { facts, header, stored, rest };
    });
    const { facts, header, stored, rest } = chosen;
    if (stored === undefined || rest === undefined) return facts;
    // Lines before the base are never written again, so they can be read beside a writer.
    return this.#tracked(async () => {
      const { path } = this.#options;
      const earlier = await this.#withFile((handle) =>
        readRange(handle, { path, header, base: stored.base }, rest),
      );
      return [...earlier, ...facts];
    });
  }

  /**
   * Makes a call as the session's one writer. Takes the lock if this process does not hold it yet. `all`:
   * the call needs all facts in memory.
   */
  async write<T>(
    call: (ledger: SessionLedger) => T,
    note: (outcome: T) => Note,
    { all }: { readonly all: boolean } = { all: false },
  ): Promise<T> {
    this.#isWanted = true;
    return this.#asWriter((writer) => writer.run(call, note), all);
  }

  /** Changes title and metadata. The lock is kept afterwards only if it was before. */
  async update(change: UpdateRequest): Promise<UpdateOutcome> {
    const outcome = await this.#asWriter((writer) => writer.update(change));
    if (!this.#isWanted && this.#calls.size === 0) await this.#turns.take(() => this.#close());
    return outcome;
  }

  async #asWriter<T>(use: (writer: SessionWriter) => Promise<T>, all = false): Promise<T> {
    return this.#tracked(async () => {
      let needsAll = all;
      for (let tries = 0; tries < maxTries; tries += 1) {
        const writer = await this.#hold(needsAll);
        if (writer.ending !== undefined) {
          await writer.ending; // it ended while this call waited, and did nothing for it
          continue;
        }
        try {
          return await use(writer);
        } catch (error) {
          if (!(error instanceof LostTableError)) throw error;
          needsAll = true; // nothing was decided
        }
      }
      throw new MillraceError(
        "session_locked",
        `${this.#options.path} can't be held for long enough`,
      );
    });
  }

  /** The newest checkpoint, unless a reset has undone facts in it. */
  async checkpoint(): Promise<Checkpoint | undefined> {
    const { path, uid } = this.#options;
    const ledger = await this.view((reading) => reading.ledger);
    return this.#tracked(async () => {
      const kept = await this.#withFile((handle) => readCheckpoint(path, handle, uid));
      return kept === undefined || ledger.hasUndone(kept.head) ? undefined : kept;
    });
  }

  /** Keeps a checkpoint under the lock. While another process holds that, nothing is kept. */
  async keepCheckpoint(checkpoint: Checkpoint): Promise<void> {
    await this.#tracked(async () => {
      const writer = await this.#hold().catch((error: unknown) => {
        if (MillraceError.is(error) && error.code === "session_locked") return undefined;
        throw error;
      });
      await writer?.keepCheckpoint(checkpoint);
      if (!this.#isWanted && this.#calls.size === 1) await this.#turns.take(() => this.#close());
    });
  }

  /** Takes the lock before any call needs it. */
  async hold(): Promise<void> {
    this.#isWanted = true;
    await this.#tracked(async () => void (await this.#hold()));
  }

  /** Waits for earlier calls, then releases the lock. A later call takes it again. */
  async release(): Promise<void> {
    await Promise.allSettled(this.#calls);
    this.#isWanted = false;
    await this.#turns.take(() => this.#close());
  }

  /**
   * Deletes the file, under its lock, and `before` that leaves its tombstone. Does nothing if the file is
   * gone, or has another uid by now.
   */
  async remove(before: () => Promise<void>): Promise<void> {
    await this.#tracked(() => this.#turns.take(() => this.#remove(before)));
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
    return this.#withFile(async (handle) => read(await this.#readOn(handle)));
  }

  async #withFile<T>(use: (handle: FileHandle) => Promise<T>): Promise<T> {
    const handle = await this.#open(constants.O_RDONLY);
    try {
      return await use(handle);
    } finally {
      await handle.close();
    }
  }

  async #hold(all = false): Promise<SessionWriter> {
    const usable = (): SessionWriter | undefined => {
      const live = this.#live();
      return all && live?.ledger.isWhole === false ? undefined : live;
    };
    return (
      usable() ??
      this.#turns.take(async () => {
        const other = usable();
        if (other !== undefined) return other;
        await this.#close();
        this.#writer = await this.#take(all);
        return this.#writer;
      })
    );
  }

  async #remove(before: () => Promise<void>): Promise<void> {
    const { uid, path, lockPath, fsync } = this.#options;
    await this.#close();
    this.#reading = undefined;
    const lock = await acquireLock(lockPath);
    try {
      if ((await headerAt(path))?.uid !== uid) return;
      await before();
      // All that begins with its name is its own, also what a killed process left half written. The file
      // itself goes last: as long as it is there, a repeat finds what is left.
      for (const name of await readdir(dirname(path))) {
        if (name.startsWith(`${basename(path)}.`)) {
          await rm(join(dirname(path), name), { force: true });
        }
      }
      await rm(path, { force: true });
      await syncFolder(dirname(path), fsync);
    } finally {
      await lock.release();
    }
  }

  async #close(): Promise<void> {
    await this.#writer?.close();
    this.#writer = undefined;
  }

  async #take(whole: boolean): Promise<SessionWriter> {
    const { path, lockPath, fsync, factsPerBase } = this.#options;
    const lock = await acquireLock(lockPath);
    let handle: FileHandle | undefined;
    try {
      handle = await this.#open(constants.O_RDWR | constants.O_APPEND);
      const reading = await this.#readOn(handle, whole);
      if (reading.tail > 0) await this.#cut(handle, reading);
      this.#reading = undefined; // its ledger now belongs to the writer
      return new SessionWriter({ path, handle, lock, reading, fsync, factsPerBase });
    } catch (error) {
      await handle?.close();
      await lock.release();
      throw error;
    }
  }

  async #open(flags: number): Promise<FileHandle> {
    try {
      return await openOwn(this.#options.path, flags);
    } catch (error) {
      if (hasCode(error, "ENOENT")) throw this.#unknown();
      throw error;
    }
  }

  async #readOn(handle: FileHandle, whole = false): Promise<Reading> {
    const { path, now, uid } = this.#options;
    const before = this.#reading;
    this.#reading = undefined; // after a failure the next reading starts from the first line
    const reading = await readSession(handle, { path, now, before, whole });
    if (reading.header.uid !== uid) throw this.#unknown();
    this.#reading = reading;
    return reading;
  }

  /** Copies the torn end of a file into a file beside it, and only then cuts it off. */
  async #cut(handle: FileHandle, { end, tail }: Reading): Promise<void> {
    const { path, onTorn } = this.#options;
    const torn = { path, at: end, length: tail, keptIn: keptIn(path) };
    const kept = await openOwn(torn.keptIn, keeping, 0o600);
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
