import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { MillraceError } from "@millrace/core";
import type { SessionId, SessionUid } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { hasCode } from "./folder.ts";
import type { Fsync } from "./folder.ts";
import { extension, idOfStem, isHashed, stemOf } from "./name.ts";
import { corrupt } from "./reading.ts";
import { glanceAt, headerAt, recordOf } from "./record.ts";
import { SessionFile } from "./session-file.ts";
import type { TornTail } from "./session-file.ts";

/** A file that should be a session and can't be read as one. */
export interface BrokenFile {
  readonly path: string;
  readonly error: unknown;
}

/** Where the sessions are, and callbacks for damage that is found there. */
export interface SessionFolderOptions {
  readonly folder: string;
  readonly now: () => number;
  readonly fsync: Fsync;
  readonly onTorn?: ((torn: TornTail) => void) | undefined;
  readonly onBroken?: ((broken: BrokenFile) => void) | undefined;
}

/** Sessions without a lock that stay in memory, at most. */
const maxIdle = 32;

/** The sessions of a folder, and the open ones among them. */
export class SessionFolder {
  readonly #options: SessionFolderOptions;
  readonly #files = new Map<SessionUid, SessionFile>();
  readonly #names = new Map<SessionUid, SessionId>();
  readonly #calls = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(options: SessionFolderOptions) {
    this.#options = options;
  }

  pathOf(id: SessionId): string {
    return join(this.#options.folder, stemOf(id) + extension);
  }

  /** The file of a session that is open already. Synchronous, so that calls keep their order. */
  known(uid: SessionUid): SessionFile | undefined {
    return this.#files.get(uid);
  }

  /** The session's file. Throws `unknown_session`. */
  async fileOf(uid: SessionUid): Promise<SessionFile> {
    const file = await this.findFile(uid);
    if (file !== undefined) return file;
    throw new MillraceError("unknown_session", `no session has the uid ${uid}`);
  }

  /** The session's file, or undefined. Reads the headers of all sessions if the uid is not known yet. */
  async findFile(uid: SessionUid): Promise<SessionFile | undefined> {
    const id = this.#names.get(uid) ?? (await this.#search(uid));
    return id === undefined ? undefined : this.adopt(uid, id);
  }

  /** The file of a session whose id is known; opened if it is not open yet. */
  adopt(uid: SessionUid, id: SessionId): SessionFile {
    const known = this.#files.get(uid);
    if (known !== undefined) return known;
    const path = this.pathOf(id);
    const lockPath = join(this.#options.folder, `${stemOf(id)}.lock`);
    const file = new SessionFile({ ...this.#options, uid, path, lockPath });
    this.#evict();
    this.#files.set(uid, file);
    this.#names.set(uid, id);
    return file;
  }

  /** Checks a few of the oldest files: drops the idle ones and moves the others to the end. */
  #evict(): void {
    let checks = Math.min(8, this.#files.size - maxIdle);
    for (const [uid, file] of this.#files) {
      if (checks <= 0) return;
      checks -= 1;
      this.#files.delete(uid);
      if (!file.isIdle) this.#files.set(uid, file);
    }
  }

  forget(uid: SessionUid): void {
    this.#files.delete(uid);
    this.#names.delete(uid);
  }

  /** The session of this name, or undefined if there is none. */
  async record(id: SessionId): Promise<SessionRecord | undefined> {
    const path = this.pathOf(id);
    const glance = await glanceAt(path);
    if (glance === undefined) return undefined;
    const { header, record } = glance;
    if (header.sessionId !== id) {
      throw corrupt(path, { number: 1, at: 0 }, `it is of the session ${header.sessionId}`);
    }
    this.#names.set(header.uid, id);
    const isHeld = this.#files.get(header.uid)?.isIdle === false;
    if (record !== undefined && !isHeld) return record;
    // The writer's facts may not be on the disk yet, and a file with a torn end has to be read whole.
    return this.adopt(header.uid, id).view(recordOf);
  }

  /** The records after an id, in the order of ids. Files that can't be read are reported and left out. */
  async list(after: string | undefined, limit: number): Promise<readonly SessionRecord[]> {
    const ids = (await this.#ids()).filter((id) => after === undefined || id > after);
    const records: SessionRecord[] = [];
    for (const id of ids) {
      if (records.length >= limit) break;
      const record = await this.#reportBroken(this.pathOf(id), () => this.record(id));
      if (record !== undefined) records.push(record);
    }
    return records;
  }

  /** Makes a call that `close` waits for. Throws `closed` after `close` was called. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isClosed) {
      throw new MillraceError("closed", `the store in ${this.#options.folder} is closed`);
    }
    const begun = call();
    this.#calls.add(begun);
    try {
      return await begun;
    } finally {
      this.#calls.delete(begun);
    }
  }

  /** Waits for the calls under way and releases all locks. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#calls);
    await Promise.all([...this.#files.values()].map((file) => file.release()));
  }

  /** All ids, sorted by their UTF-16 units. A file is opened only if its name is a hash. */
  async #ids(): Promise<readonly SessionId[]> {
    const { folder } = this.#options;
    const ids: SessionId[] = [];
    for (const name of await namesIn(folder)) {
      if (!name.endsWith(extension)) continue;
      const stem = name.slice(0, -extension.length);
      const path = join(folder, name);
      const id = idOfStem(stem) ?? (await this.#reportBroken(path, () => idInside(path, stem)));
      if (id !== undefined) ids.push(id);
    }
    return ids.toSorted((left, right) => (left < right ? -1 : 1));
  }

  async #search(uid: SessionUid): Promise<SessionId | undefined> {
    for (const id of await this.#ids()) {
      const path = this.pathOf(id);
      const header = await this.#reportBroken(path, () => headerAt(path));
      if (header === undefined) continue;
      this.#names.set(header.uid, header.sessionId);
      if (header.uid === uid) return header.sessionId;
    }
    return undefined;
  }

  /** Undefined if the read fails; `onBroken` then gets the error. */
  async #reportBroken<T>(path: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      this.#options.onBroken?.({ path, error });
      return undefined;
    }
  }
}

async function idInside(path: string, stem: string): Promise<SessionId | undefined> {
  const header = isHashed(stem) ? await headerAt(path) : undefined;
  if (header !== undefined && stemOf(header.sessionId) === stem) return header.sessionId;
  throw corrupt(path, { number: 1, at: 0 }, "its name is not that of a session");
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return []; // it is created with the first session
    throw error;
  }
}
