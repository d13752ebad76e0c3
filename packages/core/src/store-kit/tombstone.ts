import { MillraceError } from "../errors.ts";
import type { Actor } from "../event/event.ts";
import { actorText } from "../ids.ts";
import type { SessionUid } from "../ids.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { SessionRecord } from "../ports/session-record.ts";
import type { RemoveOptions, SessionStore, Tombstone } from "../ports/session-store.ts";
import { childPrefix } from "./child.ts";

/** The sessions of a session's sub-agents, by their names. Not those of their sub-agents. */
async function* childrenOf(
  list: SessionStore["list"],
  uid: SessionUid,
): AsyncGenerator<SessionRecord, void, undefined> {
  const prefix = childPrefix(uid);
  for (let after = prefix; ;) {
    const page = await list({ after });
    for (const record of page) {
      if (!record.sessionId.startsWith(prefix)) return;
      yield record;
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.sessionId;
  }
}

/** What a store does by itself when a session and its sub-agents' sessions are removed. */
export interface FamilyStore {
  readonly list: SessionStore["list"];
  /**
   * Deletes one session and leaves its tombstone. Without an effect if there is none of this uid. From
   * then on no child of it is created.
   */
  readonly removeOne: (uid: SessionUid, left: Omit<Tombstone, "uid" | "at">) => Promise<void>;
  /** The tombstones whose root this is, its own included. */
  readonly tombstonesOf: (root: SessionUid) => Promise<readonly Tombstone[]>;
}

/**
 * `SessionStore.remove`: a session is removed before its children, so that none is made meanwhile. After
 * a crash a repeat finds those that are left: by the names of children, and by the tombstones of those
 * whose children may be left.
 */
export async function removeFamily(
  store: FamilyStore,
  root: SessionUid,
  { actor }: RemoveOptions = {},
): Promise<readonly Tombstone[]> {
  const by = actor === undefined ? {} : { actor: checkActor(actor) };
  const found = await store.tombstonesOf(root);
  const left = new Set([root, ...found.map(({ uid }) => uid)]);
  // A set is iterated over what is added meanwhile.
  for (const uid of left) {
    await store.removeOne(uid, { root, ...by });
    for await (const child of childrenOf(store.list, uid)) left.add(child.uid);
  }
  return store.tombstonesOf(root);
}

/** Which session is removed, and from where. */
export interface RemovalOptions extends RemoveOptions {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly sessionId: string;
  /** The blobs of the session and of its sub-agents' sessions are removed too. */
  readonly blobs?: Pick<BlobStore, "remove"> | undefined;
  /** The tenant of `store`, for a repeat that finds no record any more. Left out: the record's. */
  readonly tenant?: string | undefined;
}

/**
 * Removes a session and its sub-agents' sessions from the store and from the log. Its drivers and
 * viewers end, in this process and in others. Resolves to its tombstone; undefined if there never was a
 * session of this name. A call that failed half way is repeated, and completes the removal. Throws
 * errors of the store and the log.
 */
export async function removeSession(options: RemovalOptions): Promise<Tombstone | undefined> {
  const { store, log, blobs, sessionId: name, actor } = options;
  const record = await store.find(name);
  const uid = record?.uid ?? (await store.tombstone(name))?.uid;
  if (uid === undefined) return undefined;
  // While the store still has the keys: with them the log notifies the subscribers of other processes.
  await shareKeys(options, uid);
  const tombstones = await store.remove(uid, { actor });
  const tenant = options.tenant ?? record?.tenant;
  for (const tombstone of tombstones) {
    await log.remove(tombstone.uid);
    await blobs?.remove({ tenant, uid: tombstone.uid });
  }
  return tombstones.find((tombstone) => tombstone.uid === uid);
}

async function shareKeys({ store, log }: RemovalOptions, root: SessionUid): Promise<void> {
  if (log.setKey === undefined) return;
  const uids = new Set([root]);
  for (const uid of uids) {
    try {
      log.setKey(uid, await store.key(uid));
    } catch (error) {
      if (!MillraceError.is(error) || error.code !== "unknown_session") throw error; // it is gone
    }
    for await (const child of childrenOf(store.list, uid)) uids.add(child.uid);
  }
}

/** The actor, without what is not part of one. Throws `invalid_id`. */
function checkActor({ user, via }: Actor): Actor {
  return { user: actorText(user), ...(via === undefined ? {} : { via: actorText(via) }) };
}
