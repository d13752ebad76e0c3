import { join } from "node:path";
import { MillraceError } from "@millrace/core";
import type { SessionId, SessionUid } from "@millrace/core";
import type {
  PageQuery,
  RemoveOptions,
  SessionPage,
  SessionRecord,
  SessionStore,
  Tombstone,
} from "@millrace/core/ports";
import { parentOf, removeFamily } from "@millrace/core/store-kit";
import type { FamilyStore } from "@millrace/core/store-kit";
import { refuseOpenFolder } from "./folder.ts";
import type { Fsync } from "./folder.ts";
import { FolderListing, placeAfter } from "./listing.ts";
import { extension, stemOf } from "./name.ts";
import { corrupt } from "./corrupt.ts";
import { PageIndex } from "./page-index.ts";
import { glanceAt, headerAt, recordOf } from "./record.ts";
import { SessionFile } from "./session-file.ts";
import type { TornTail } from "./session-file.ts";
import { Tombstones } from "./tombstones.ts";
import { UidIndex } from "./uid-index.ts";
import type { UidEntry } from "./uid-index.ts";

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
  readonly factsPerBase: number;
  readonly onTorn?: ((torn: TornTail) => void) | undefined;
  readonly onBroken?: ((broken: BrokenFile) => void) | undefined;
}

/** Sessions without a lock that stay in memory, at most. */
const maxIdle = 32;

/** A search that read so many headers adds them to the index. Below that an index saves little. */
const manyHeaders = 100;
const headersAtOnce = 16;

/** The sessions of a folder, and the open ones among them. */
export class SessionFolder {
  readonly #options: SessionFolderOptions;
  readonly #files = new Map<SessionUid, SessionFile>();
  readonly #names = new Map<SessionUid, SessionId>();
  readonly #calls = new Set<Promise<unknown>>();
  readonly #listing: FolderListing;
  readonly #index: UidIndex;
  readonly #pages: PageIndex;
  readonly tombstones: Tombstones;
  #isClosed = false;
  /** Whether the folder is there and other users can't write to it. */
  #isChecked = false;

  constructor(options: SessionFolderOptions) {
    this.#options = options;
    this.#listing = new FolderListing(options.folder, (path, error) =>
      options.onBroken?.({ path, error }),
    );
    this.#index = new UidIndex(options.folder);
    this.#pages = new PageIndex({
      pathOf: (id) => this.pathOf(id),
      isHeld: (uid) => this.#isHeld(uid),
      record: (id) => this.#reportBroken(this.pathOf(id), () => this.record(id)),
    });
    this.tombstones = new Tombstones(options.folder, options.fsync);
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

  /** The session's file, or undefined. */
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

  /** The file of a session that was just created. */
  async adoptNew(uid: SessionUid, id: SessionId): Promise<SessionFile> {
    await this.#index.add([[uid, id]]);
    return this.adopt(uid, id);
  }

  /** Deletes a session and the sessions of its sub-agents, and leaves their tombstones. */
  async remove(uid: SessionUid, options?: RemoveOptions): Promise<readonly Tombstone[]> {
    const list: SessionStore["list"] = ({ after, limit = 100 } = {}) => this.list(after, limit);
    const removeOne: FamilyStore["removeOne"] = (one, left) => this.#removeOne(one, left);
    const tombstonesOf: FamilyStore["tombstonesOf"] = (root) => this.tombstones.ofRoot(root);
    return removeFamily({ list, removeOne, tombstonesOf }, uid, options);
  }

  async #removeOne(uid: SessionUid, left: Omit<Tombstone, "uid" | "at" | "owner">): Promise<void> {
    const file = await this.findFile(uid);
    const id = this.#names.get(uid);
    if (file === undefined || id === undefined) return;
    const at = this.#options.now();
    const header = await headerAt(this.pathOf(id)).catch(() => undefined); // a broken one is removed too
    const owned = header?.owner === undefined ? {} : { owner: header.owner };
    // The index before the file: a repeat finds the file, and with it the line that is left.
    await file.remove(async () => {
      await this.tombstones.add(id, { uid, at, ...left, ...owned });
      await this.#index.remove(uid);
    });
    this.#files.delete(uid);
    this.#names.delete(uid);
  }

  /** Throws `unknown_session` for the name of a child whose parent was removed, and deletes its file. */
  async refuseRemovedParent(uid: SessionUid, id: SessionId): Promise<void> {
    const parent = parentOf(id);
    if (parent === undefined || !(await this.tombstones.has(parent))) return;
    await this.#removeOne(uid, { root: parent });
    throw new MillraceError("unknown_session", `${id} is of a session that was removed`);
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
    if (record !== undefined && !this.#isHeld(header.uid)) return record;
    // The writer's facts may not be on the disk yet, and a file with a torn end has to be read whole.
    return this.adopt(header.uid, id).view(recordOf);
  }

  #isHeld(uid: SessionUid): boolean {
    return this.#files.get(uid)?.isIdle === false;
  }

  /** A page of records, newest activity first. Files that can't be read are reported and left out. */
  async page(query?: PageQuery): Promise<SessionPage> {
    return this.#pages.page(await this.#listing.ids(), query);
  }

  /** The records after an id, in the order of ids. Files that can't be read are reported and left out. */
  async list(after: string | undefined, limit: number): Promise<readonly SessionRecord[]> {
    const ids = await this.#listing.ids();
    const records: SessionRecord[] = [];
    for (let at = placeAfter(ids, after); at < ids.length && records.length < limit; at += 1) {
      const id = ids[at] as SessionId;
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
    const begun = this.#isChecked ? call() : this.#check().then(call);
    this.#calls.add(begun);
    try {
      return await begun;
    } finally {
      this.#calls.delete(begun);
    }
  }

  async #check(): Promise<void> {
    if (!this.#isChecked) this.#isChecked = await refuseOpenFolder(this.#options.folder);
  }

  /** Waits for the calls under way and releases all locks. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#calls);
    await Promise.all([...this.#files.values()].map((file) => file.release()));
  }

  /**
   * Looks a uid up in the index, then in the headers of the sessions that are not in it. If those are
   * many, they are added to it.
   */
  async #search(uid: SessionUid): Promise<SessionId | undefined> {
    await this.#index.refresh();
    const indexed = this.#index.find(uid);
    if (indexed !== undefined) return indexed;
    const ids = (await this.#listing.ids()).filter((id) => !this.#index.has(id));
    const read: UidEntry[] = [];
    for (let at = 0; at < ids.length && !this.#names.has(uid); at += headersAtOnce) {
      const some = ids.slice(at, at + headersAtOnce).map(async (id) => {
        const path = this.pathOf(id);
        const header = await this.#reportBroken(path, () => headerAt(path));
        if (header === undefined || header.sessionId !== id) return;
        this.#names.set(header.uid, id);
        read.push([header.uid, id]);
      });
      await Promise.all(some);
    }
    if (read.length >= manyHeaders) await this.#index.add(read, { create: true });
    return this.#names.get(uid);
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
