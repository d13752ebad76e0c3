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

/** Where the sessions are, and who is told what was found there. */
export interface SessionFolderOptions {
  readonly folder: string;
  readonly now: () => number;
  readonly fsync: Fsync;
  readonly onTorn?: ((torn: TornTail) => void) | undefined;
  readonly onBroken?: ((broken: BrokenFile) => void) | undefined;
}

/** Sessions that were read and are not held stay in memory up to this many. */
const maxIdle = 32;

/** Which sessions a folder has, and those of them that this process works with. */
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

  /** The file of a session that is worked with already. At once, so that calls keep their order. */
  known(uid: SessionUid): SessionFile | undefined {
    return this.#files.get(uid);
  }

  /** The session's file. Throws `unknown_session`. */
  async fileOf(uid: SessionUid): Promise<SessionFile> {
    const file = await this.findFile(uid);
    if (file !== undefined) return file;
    throw new MillraceError("unknown_session", `no session has the uid ${uid}`);
  }

  /** Looks through the headers of all sessions if it has not met this uid yet. */
  async findFile(uid: SessionUid): Promise<SessionFile | undefined> {
    const id = this.#names.get(uid) ?? (await this.#search(uid));
    return id === undefined ? undefined : this.adopt(uid, id);
  }

  /** The file of a session whose name is known. */
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

  /** Looks at a few that were met long ago: lets go of those that nobody uses, and spares the others. */
  #evict(): void {
    let looks = Math.min(8, this.#files.size - maxIdle);
    for (const [uid, file] of this.#files) {
      if (looks <= 0) return;
      looks -= 1;
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
    // What is held may not be on the disk yet; and behind a torn end only the whole file tells.
    return this.adopt(header.uid, id).view(recordOf);
  }

  /** The records after an id, in the order of ids. Files that can't be read are told and left out. */
  async list(after: string | undefined, limit: number): Promise<readonly SessionRecord[]> {
    const ids = (await this.#ids()).filter((id) => after === undefined || id > after);
    const records: SessionRecord[] = [];
    for (const id of ids) {
      if (records.length >= limit) break;
      const record = await this.#tell(this.pathOf(id), () => this.record(id));
      if (record !== undefined) records.push(record);
    }
    return records;
  }

  /** Makes a call, which `close` will wait for. Throws `closed` after that. */
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

  /** Finishes the calls that have begun and gives up all locks. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#calls);
    await Promise.all([...this.#files.values()].map((file) => file.release()));
  }

  /** Sorted by their UTF-16 units. Only of hashed names the file has to be opened. */
  async #ids(): Promise<readonly SessionId[]> {
    const { folder } = this.#options;
    const ids: SessionId[] = [];
    for (const name of await namesIn(folder)) {
      if (!name.endsWith(extension)) continue;
      const stem = name.slice(0, -extension.length);
      const path = join(folder, name);
      const id = idOfStem(stem) ?? (await this.#tell(path, () => idInside(path, stem)));
      if (id !== undefined) ids.push(id);
    }
    return ids.toSorted((left, right) => (left < right ? -1 : 1));
  }

  async #search(uid: SessionUid): Promise<SessionId | undefined> {
    for (const id of await this.#ids()) {
      const path = this.pathOf(id);
      const header = await this.#tell(path, () => headerAt(path));
      if (header === undefined) continue;
      this.#names.set(header.uid, header.sessionId);
      if (header.uid === uid) return header.sessionId;
    }
    return undefined;
  }

  async #tell<T>(path: string, read: () => Promise<T>): Promise<T | undefined> {
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
    if (hasCode(error, "ENOENT")) return []; // made with the first session
    throw error;
  }
}
