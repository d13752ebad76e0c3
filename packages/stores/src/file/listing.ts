import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SessionId } from "@millrace/core";
import { hasCode } from "./folder.ts";
import { extension, idOfStem, isHashed, stemOf } from "./name.ts";
import { corrupt } from "./corrupt.ts";
import { headerAt } from "./record.ts";
import { Turns } from "./turns.ts";

/**
 * How old a folder's last change must be for its time to identify it, in milliseconds. Two changes
 * within one tick of the file system's clock have the same time; the coarsest ticks are 2 s.
 */
const tickMs = 2_500;

/**
 * The ids of the sessions in a folder, sorted. The folder is read again only if its time of change is
 * another one, or is so recent that a later change could have the same. So a page costs its records,
 * and after a change of the folder also one list of names, whatever process made it. Files that people
 * copy in or delete change that time too.
 */
export class FolderListing {
  readonly #folder: string;
  readonly #onBroken: (path: string, error: unknown) => void;
  readonly #turns = new Turns();
  #changed: bigint | undefined;
  #names: readonly string[] = [];
  #known = new Map<string, SessionId>();
  #sorted: readonly SessionId[] = [];

  constructor(folder: string, onBroken: (path: string, error: unknown) => void) {
    this.#folder = folder;
    this.#onBroken = onBroken;
  }

  /** All ids in the order of their UTF-16 units. A file is opened only if its name is a hash. */
  ids(): Promise<readonly SessionId[]> {
    return this.#turns.take(() => this.#current());
  }

  async #current(): Promise<readonly SessionId[]> {
    const now = Date.now();
    const changed = await changeOf(this.#folder);
    if (changed === undefined || changed !== this.#changed) await this.#read();
    const isOld = changed !== undefined && Number(changed / 1_000_000n) < now - tickMs;
    this.#changed = isOld ? changed : undefined;
    // Those without an id are tried again: a broken file can be repaired in its place.
    if (this.#known.size < this.#names.length) await this.#decode();
    return this.#sorted;
  }

  async #read(): Promise<void> {
    const files = (await namesIn(this.#folder)).filter((name) => name.endsWith(extension));
    const same =
      files.length === this.#names.length && files.every((name) => this.#known.has(name));
    this.#names = files;
    if (same) return;
    const before = this.#known;
    this.#known = new Map();
    for (const name of files) {
      const id = before.get(name) ?? idOfStem(name.slice(0, -extension.length));
      if (id !== undefined) this.#known.set(name, id);
    }
    this.#sort();
  }

  async #decode(): Promise<void> {
    const before = this.#known.size;
    for (const name of this.#names) {
      if (this.#known.has(name)) continue;
      const path = join(this.#folder, name);
      try {
        const id = await idInside(path, name.slice(0, -extension.length));
        this.#known.set(name, id);
      } catch (error) {
        this.#onBroken(path, error);
      }
    }
    if (this.#known.size > before) this.#sort();
  }

  #sort(): void {
    this.#sorted = [...this.#known.values()].toSorted((left, right) => (left < right ? -1 : 1));
  }
}

/** The place of the first id after the given one, in a sorted list. */
export function placeAfter(ids: readonly SessionId[], after: string | undefined): number {
  if (after === undefined) return 0;
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] as SessionId) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function changeOf(folder: string): Promise<bigint | undefined> {
  try {
    return (await stat(folder, { bigint: true })).mtimeNs;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return []; // it is created with the first session
    throw error;
  }
}

async function idInside(path: string, stem: string): Promise<SessionId> {
  const header = isHashed(stem) ? await headerAt(path) : undefined;
  if (header !== undefined && stemOf(header.sessionId) === stem) return header.sessionId;
  throw corrupt(path, { number: 1, at: 0 }, "its name is not that of a session");
}
