import type { SessionId, SessionUid } from "../ids.ts";
import type { Tombstone } from "../ports/session-store.ts";
import { encodeBase64 } from "../wire/base64.ts";

/** The tombstones of a store in memory, by uid and by the hash of the name. No name is kept. */
export class MemoryTombstones {
  readonly #byUid = new Map<SessionUid, Tombstone>();
  readonly #byName = new Map<string, Tombstone>();

  has(uid: SessionUid): boolean {
    return this.#byUid.has(uid);
  }

  add(nameHash: string, tombstone: Tombstone): void {
    this.#byUid.set(tombstone.uid, tombstone);
    this.#byName.set(nameHash, tombstone);
  }

  /** The one of the session that had this name and was removed last. */
  async of(name: SessionId): Promise<Tombstone | undefined> {
    return this.#byName.get(await hashOf(name));
  }

  /** Those of one removal, the root's first. Reads all: removals are rare. */
  async ofRoot(root: SessionUid): Promise<readonly Tombstone[]> {
    return [...this.#byUid.values()].filter((tombstone) => tombstone.root === root);
  }
}

/** The hash of a session's name. */
export async function hashOf(name: SessionId): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(name));
  return encodeBase64(new Uint8Array(bytes));
}
