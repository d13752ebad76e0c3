import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { join } from "node:path";
import { isJsonObject, parseJsonText } from "@millrace/core/wire";
import { sessionUid } from "@millrace/core/writing";
import type { Actor, SessionId, SessionUid } from "@millrace/core";
import type { Tombstone } from "@millrace/core/ports";
import { appendAll, hasCode, syncFolder } from "./folder.ts";
import type { Fsync } from "./folder.ts";
import { openOwn } from "./own-file.ts";
import { lineFeed, readBlock } from "./scan.ts";
import { Turns } from "./turns.ts";

/** No session's file has this extension. */
const name = "removed.log";

/**
 * The tombstones of a folder: one line for each removed session, appended before its file is deleted and
 * never changed. A line holds the hash of the session's name, not the name.
 */
export class Tombstones {
  readonly #folder: string;
  readonly #path: string;
  readonly #fsync: Fsync;
  readonly #turns = new Turns();
  readonly #byUid = new Map<SessionUid, Tombstone>();
  readonly #byName = new Map<string, Tombstone>();
  readonly #byRoot = new Map<SessionUid, Tombstone[]>();
  #end = 0;

  constructor(folder: string, fsync: Fsync) {
    this.#folder = folder;
    this.#path = join(folder, name);
    this.#fsync = fsync;
  }

  /** Whether a session was removed. */
  async has(uid: SessionUid): Promise<boolean> {
    await this.#refresh();
    return this.#byUid.has(uid);
  }

  /** The one of the session that had this name and was removed last. */
  async of(id: SessionId): Promise<Tombstone | undefined> {
    await this.#refresh();
    return this.#byName.get(hashOf(id));
  }

  /** Those of one removal, the root's first. */
  async ofRoot(root: SessionUid): Promise<readonly Tombstone[]> {
    await this.#refresh();
    const all = this.#byRoot.get(root) ?? [];
    return all.toSorted((left, right) => Number(right.uid === root) - Number(left.uid === root));
  }

  /** Adds one, unless a removal that was cut off has added it. On the disk when this resolves. */
  async add(id: SessionId, tombstone: Tombstone): Promise<void> {
    if (await this.has(tombstone.uid)) return;
    const { uid, root, at, actor, owner } = tombstone;
    const by = actor === undefined && owner === undefined ? [] : [actor ?? null];
    const owned = owner === undefined ? [] : [owner];
    const line = JSON.stringify([uid, root, hashOf(id), at, ...by, ...owned]);
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
    const handle = await openOwn(this.#path, flags, 0o600);
    try {
      // A line feed before as well: the line of a process that was killed may have no end.
      await appendAll(handle, Buffer.from(`\n${line}\n`, "utf8"));
      if (this.#fsync === "always") await handle.sync();
    } finally {
      await handle.close();
    }
    await syncFolder(this.#folder, this.#fsync);
  }

  /** Reads what processes have appended since. */
  #refresh(): Promise<void> {
    return this.#turns.take(async () => {
      const handle = await openOwn(this.#path, constants.O_RDONLY).catch((error: unknown) => {
        if (hasCode(error, "ENOENT")) return undefined;
        throw error;
      });
      if (handle === undefined) return;
      try {
        const { size } = await handle.stat();
        const block = await readBlock(handle, this.#end, Math.max(0, size - this.#end));
        const length = block.lastIndexOf(lineFeed) + 1;
        this.#end += length;
        for (const line of block.toString("utf8", 0, length).split("\n")) this.#take(line);
      } finally {
        await handle.close();
      }
    });
  }

  #take(line: string): void {
    const read = line === "" ? undefined : parseTombstone(line);
    if (read === undefined || this.#byUid.has(read.tombstone.uid)) return;
    const { hash, tombstone } = read;
    this.#byUid.set(tombstone.uid, tombstone);
    this.#byName.set(hash, tombstone);
    const ofRoot = this.#byRoot.get(tombstone.root) ?? [];
    ofRoot.push(tombstone);
    this.#byRoot.set(tombstone.root, ofRoot);
  }
}

function hashOf(id: SessionId): string {
  return createHash("sha256").update(id).digest("hex");
}

/** Undefined for a line that was written in part, or by no store. */
function parseTombstone(
  line: string,
): { readonly hash: string; readonly tombstone: Tombstone } | undefined {
  try {
    const value = parseJsonText(line);
    if (!Array.isArray(value)) return undefined;
    const [uid, root, hash, at, actor, owner] = value as readonly unknown[];
    if (typeof uid !== "string" || typeof root !== "string") return undefined;
    if (typeof hash !== "string" || typeof at !== "number") return undefined;
    const by = isJsonObject(actor) ? { actor: actor as unknown as Actor } : {}; // as it was written
    const owned = typeof owner === "string" ? { owner } : {};
    const own = { uid: sessionUid(uid), root: sessionUid(root), at, ...by, ...owned };
    return { hash, tombstone: own };
  } catch {
    return undefined;
  }
}
