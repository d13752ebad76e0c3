import { randomBytes } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, parseJsonText } from "@millrace/core/wire";
import { isBlobHash, sessionId, sessionUid } from "@millrace/core/writing";
import type { BlobScope } from "@millrace/core/ports";
import { createWhole, hasCode, makeFolder, refuseOpenFolder, syncFolder } from "./folder.ts";
import type { Fsync } from "./folder.ts";
import { stemOf } from "./name.ts";
import { readOwn } from "./own-file.ts";

/** What the names in a place's folder end with. A blob itself has its hash as its name. */
export const endings = {
  /** An upload under way, or one that was cut off. */
  upload: ".tmp",
  /** Beside a blob that a fact names. */
  named: ".named",
  /** On its way out. */
  gone: ".gone",
} as const;

const placeFile = "place.json";

/** A tenant and a uid that were admitted. */
export type OwnBlobScope = Required<BlobScope> & { readonly tenant: string };

/** The folders of all places: one for each tenant, and in it one for each session. */
export class BlobFolders {
  readonly #folder: string;
  readonly #fsync: Fsync;
  #checked = false;

  constructor(folder: string, fsync: Fsync) {
    this.#folder = folder;
    this.#fsync = fsync;
  }

  /** The names are escaped as those of sessions are, so that none leads out of the folder. */
  pathOf({ tenant, uid }: OwnBlobScope): string {
    return join(this.#folder, stemOf(sessionId(tenant)), stemOf(sessionId(uid)));
  }

  /** Throws `invalid_definition` if other users may write to the folder. */
  async check(): Promise<void> {
    if (!this.#checked) this.#checked = await refuseOpenFolder(this.#folder);
  }

  /** Makes the folder of a place. A file in it names the place: the folder's name may be a hash. */
  async make(place: OwnBlobScope): Promise<string> {
    const path = this.pathOf(place);
    await this.check();
    await makeFolder(path, this.#fsync);
    const { tenant, uid } = place;
    const text = Buffer.from(JSON.stringify({ tenant, uid }), "utf8");
    if (!(await namesIn(path)).includes(placeFile)) {
      await createWhole(join(path, placeFile), [text], this.#fsync);
    }
    return path;
  }

  /** Removes a place in one step, as others see it. What is being written in it has no place any more. */
  async remove(path: string): Promise<void> {
    const aside = `${path}.${randomBytes(8).toString("hex")}${endings.gone}`;
    try {
      await rename(path, aside);
    } catch (error) {
      if (hasCode(error, "ENOENT")) return;
      throw error;
    }
    await syncFolder(join(path, ".."), this.#fsync);
    await rm(aside, { recursive: true, force: true });
  }

  /** Every place, with its folder. What a crash has left of a removal is removed on the way. */
  async *all(): AsyncGenerator<
    { readonly path: string; readonly place: OwnBlobScope },
    void,
    undefined
  > {
    await this.check();
    for (const tenant of await namesIn(this.#folder)) {
      for (const name of await namesIn(join(this.#folder, tenant))) {
        const path = join(this.#folder, tenant, name);
        if (name.endsWith(endings.gone)) await rm(path, { recursive: true, force: true });
        else {
          const place = await readScope(join(path, placeFile));
          if (place !== undefined) yield { path, place };
        }
      }
    }
  }
}

/** The names in a folder. None if there is no such folder. */
export async function namesIn(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return [];
    throw error;
  }
}

/** The hashes of the blobs among the names in a place's folder. */
export function hashesAmong(names: readonly string[]): readonly string[] {
  return names.filter(isBlobHash);
}

/** Undefined for a folder that no store made, or that is on its way out. */
async function readScope(path: string): Promise<OwnBlobScope | undefined> {
  try {
    const value = parseJsonText(await readOwn(path));
    if (!isJsonObject(value)) return undefined;
    const { tenant, uid } = value;
    if (typeof tenant !== "string" || typeof uid !== "string") return undefined;
    return { tenant, uid: sessionUid(uid) };
  } catch {
    return undefined;
  }
}
