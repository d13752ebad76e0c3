import { lstatSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { PageQuery, SessionPage, SessionRecord } from "@millrace/core/ports";
import { pageOf } from "@millrace/core/store-kit";
import type { PageEntry } from "@millrace/core/store-kit";
import type { SessionId, SessionUid } from "@millrace/core";

/** What pages are made of. */
export interface PageIndexOptions {
  readonly pathOf: (id: SessionId) => string;
  /** True while this process writes the session: what it has in memory may not be in its file yet. */
  readonly isHeld: (uid: SessionUid) => boolean;
  /** Undefined for a session that can't be read, or is gone. */
  readonly record: (id: SessionId) => Promise<SessionRecord | undefined>;
}

interface Known {
  readonly stamp: string;
  readonly entry: PageEntry;
}

/** Files whose state is looked at before other work of the process has its turn. */
const statsAtOnce = 256;
/** Files that are read at once. */
const readsAtOnce = 16;

/**
 * What pages order and choose by, of all sessions of a folder. A session's file is read again only if its
 * state on the disk is another one, so a page costs one look at each file's state, and reads of those
 * that have changed and of those that are on it. The first page of a process reads two lines of each file.
 */
export class PageIndex {
  readonly #options: PageIndexOptions;
  #known: ReadonlyMap<SessionId, Known> = new Map();

  constructor(options: PageIndexOptions) {
    this.#options = options;
  }

  /** A page of the sessions with these ids. */
  async page(ids: readonly SessionId[], query?: PageQuery): Promise<SessionPage> {
    await this.#refresh(ids);
    const entries = [...this.#known.values()].map(({ entry }) => entry);
    const { records: chosen, ...rest } = pageOf(entries, query);
    const records: SessionRecord[] = [];
    for (const { sessionId } of chosen) {
      const record = await this.#options.record(sessionId);
      if (record !== undefined) records.push(record);
    }
    return { ...rest, records };
  }

  async #refresh(ids: readonly SessionId[]): Promise<void> {
    const [before, after] = [this.#known, new Map<SessionId, Known>()];
    const changed: (readonly [SessionId, string])[] = [];
    for (const [at, id] of ids.entries()) {
      if (at > 0 && at % statsAtOnce === 0) await setImmediate();
      const known = before.get(id);
      const stamp = stampOf(this.#options.pathOf(id));
      if (stamp === undefined) continue;
      if (known?.stamp === stamp && !this.#options.isHeld(known.entry.uid)) after.set(id, known);
      else changed.push([id, stamp]);
    }
    for (let at = 0; at < changed.length; at += readsAtOnce) {
      const some = changed.slice(at, at + readsAtOnce);
      await Promise.all(some.map(([id, stamp]) => this.#read(after, id, stamp)));
    }
    this.#known = after;
  }

  async #read(into: Map<SessionId, Known>, id: SessionId, stamp: string): Promise<void> {
    const record = await this.#options.record(id);
    if (record === undefined) return;
    const { uid, sessionId, owner, title, parent, status, updatedAt } = record;
    into.set(id, { stamp, entry: { uid, sessionId, owner, title, parent, status, updatedAt } });
  }
}

/** A file only ever grows, so its size changes with each line. Undefined if it is gone. */
function stampOf(path: string): string | undefined {
  const state = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return state && `${state.ino} ${state.size} ${state.mtimeNs}`;
}
