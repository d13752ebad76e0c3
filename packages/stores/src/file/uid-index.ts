import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { readdir, rename, rm, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MillraceError } from "@millrace/core";
import { parseJsonText } from "@millrace/core/wire";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { SessionId, SessionUid } from "@millrace/core";
import { hasCode } from "./folder.ts";
import { acquireLock } from "./lock.ts";
import type { Lock } from "./lock.ts";
import { openOwn } from "./own-file.ts";
import { lineFeed, readBlock } from "./scan.ts";
import { Turns } from "./turns.ts";

/** No session's file has this extension. */
const name = "uids.index";

const leftover = /^uids\.index\.[0-9a-f]{16}\.tmp$/;

/** A process holds the lock for as long as it writes one file. */
const maxTries = 500;
const retryMs = 20;

/** One line of the index: which session has this uid, or that the session was removed. */
export type UidEntry = readonly [uid: SessionUid, id: SessionId, removed?: true];

/**
 * The names of sessions by their uids: a file in the folder, so that a uid that a process has not met
 * is not looked for in every session. It is a cache without a lock. It is made by the first search
 * that had to read many headers; then each process appends what it creates and removes. A line that
 * can't be read is left out, and a session that is in no line is looked for by its header.
 */
export class UidIndex {
  readonly #path: string;
  readonly #turns = new Turns();
  readonly #ids = new Map<SessionUid, SessionId>();
  readonly #uids = new Map<SessionId, SessionUid>();
  #inode: bigint | undefined;
  #end = 0;
  #lines = 0;

  constructor(folder: string) {
    this.#path = join(folder, name);
  }

  /** Reads what processes have appended since. */
  refresh(): Promise<void> {
    return this.#turns.take(() => this.#readOn());
  }

  async #readOn(): Promise<void> {
    await this.#readLines();
    if (this.#lines <= 2 * this.#ids.size + 1_000) return;
    const lock = await this.#tryLock();
    if (lock === undefined) return; // another process writes it anew
    try {
      await this.#rewrite();
    } finally {
      await lock.release();
    }
  }

  async #readLines(): Promise<void> {
    const handle = await openIfThere(this.#path, constants.O_RDONLY);
    if (handle === undefined) return this.#clear(undefined);
    try {
      const { ino, size } = await handle.stat({ bigint: true });
      if (ino !== this.#inode || Number(size) < this.#end) this.#clear(ino);
      const block = await readBlock(handle, this.#end, Number(size) - this.#end);
      const length = block.lastIndexOf(lineFeed) + 1;
      this.#end += length;
      for (const line of block.toString("utf8", 0, length).split("\n")) this.#take(line);
    } finally {
      await handle.close();
    }
  }

  find(uid: SessionUid): SessionId | undefined {
    return this.#ids.get(uid);
  }

  /** Whether the uid of this session is known. */
  has(id: SessionId): boolean {
    return this.#uids.has(id);
  }

  /** Appends entries to the index. Without `create`: only if there is one. */
  async add(
    entries: readonly UidEntry[],
    { create }: { readonly create: boolean } = { create: false },
  ): Promise<void> {
    const flags = constants.O_WRONLY | constants.O_APPEND | (create ? constants.O_CREAT : 0);
    const handle = await openIfThere(this.#path, flags);
    if (handle === undefined) return;
    try {
      // A line feed before as well: the line of a process that was killed may have no end.
      await handle.writeFile(`\n${textOf(entries)}`);
    } finally {
      await handle.close();
    }
  }

  /**
   * Writes the index anew without a session that was removed: its line has the name. Under a lock, since
   * a process that wrote the lines of an earlier moment would bring the name back.
   */
  async remove(uid: SessionUid): Promise<void> {
    await this.#turns.take(async () => {
      const lock = await this.#lock();
      try {
        const handle = await openIfThere(this.#path, constants.O_RDONLY);
        if (handle === undefined) return;
        await handle.close();
        this.#clear(undefined);
        await this.#readLines();
        const id = this.#ids.get(uid);
        this.#ids.delete(uid);
        if (id !== undefined) this.#uids.delete(id);
        await this.#rewrite();
        await this.#deleteLeftovers();
      } finally {
        await lock.release();
      }
    });
  }

  #take(line: string): void {
    if (line === "") return;
    this.#lines += 1;
    const entry = parseEntry(line);
    if (entry === undefined) return;
    const [uid, id, removed] = entry;
    const former = this.#uids.get(id);
    if (former !== undefined) this.#ids.delete(former);
    this.#uids.delete(id);
    if (removed === true) return;
    this.#ids.set(uid, id);
    this.#uids.set(id, uid);
  }

  #clear(inode: bigint | undefined): void {
    [this.#inode, this.#end, this.#lines] = [inode, 0, 0];
    this.#ids.clear();
    this.#uids.clear();
  }

  /** What a process left that was killed while it wrote the index anew. */
  async #deleteLeftovers(): Promise<void> {
    const folder = dirname(this.#path);
    const left = (await readdir(folder)).filter((file) => leftover.test(file));
    for (const file of left) await rm(join(folder, file), { force: true });
  }

  async #lock(): Promise<Lock> {
    for (let tries = 1; ; tries += 1) {
      const lock = await this.#tryLock();
      if (lock !== undefined) return lock;
      if (tries === maxTries) throw new MillraceError("session_locked", `${this.#path} is held`);
      await sleep(retryMs);
    }
  }

  async #tryLock(): Promise<Lock | undefined> {
    try {
      return await acquireLock(`${this.#path}.lock`);
    } catch (error) {
      if (MillraceError.is(error) && error.code === "session_locked") return undefined;
      throw error;
    }
  }

  /** Without the lines of removed sessions. What others append meanwhile is lost, and found by headers. */
  async #rewrite(): Promise<void> {
    const temporary = `${this.#path}.${randomBytes(8).toString("hex")}.tmp`;
    await writeFile(temporary, textOf([...this.#ids]), { mode: 0o600 });
    await rename(temporary, this.#path);
    this.#inode = undefined; // the next search reads the new file
  }
}

function textOf(entries: readonly UidEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

function parseEntry(line: string): UidEntry | undefined {
  try {
    const value = parseJsonText(line);
    if (!Array.isArray(value)) return undefined;
    const [uid, id, removed] = value as readonly unknown[];
    if (typeof uid !== "string" || typeof id !== "string") return undefined;
    const entry = [sessionUid(uid), sessionId(id)] as const;
    return removed === true ? [...entry, true] : entry;
  } catch {
    return undefined; // written by no store, or in part
  }
}

async function openIfThere(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await openOwn(path, flags, 0o600);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
