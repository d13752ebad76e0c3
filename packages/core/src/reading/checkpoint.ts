import { encode } from "../wire/encode.ts";
import type { Item } from "../content/item.ts";
import type { Fact } from "../event/event.ts";
import { schemaVersion } from "../event/event.ts";
import { restore, snapshot } from "../event/snapshot.ts";
import type { Snapshot } from "../event/snapshot.ts";
import { emptyState } from "../event/state.ts";
import type { ItemId, SessionId, SessionUid } from "../ids.ts";
import type { Json } from "../json.ts";
import { List } from "../list.ts";
import { parseJsonText } from "../parse-json.ts";
import type { Checkpoint, SessionStore } from "../ports/session-store.ts";
import { isReset } from "../store-kit/store-row.ts";
import { item } from "../wire/content-codec.ts";
import { version } from "../wire/event-codec.ts";
import { snapshotShape } from "../wire/message-codec.ts";
import { count, decodeBy, id, json, list, object, optional } from "../wire/shape.ts";
import { applyPaged, defaultSnapshotBytes, newestItems, replayPaged } from "./paged-state.ts";
import type { Change, PagedState } from "./paged-state.ts";

/** What a checkpoint is made of. */
export interface CheckpointContent {
  /** The session at the checkpoint's head. */
  readonly paged: PagedState;
  /** Items that the writer of the checkpoint needs besides the newest ones. */
  readonly needed?: readonly Item[] | undefined;
  /** What the writer of the checkpoint knows besides the state. Not looked into here. */
  readonly loop?: Json | undefined;
}

/** What a checkpoint holds. Its state has the newest items only. */
export interface CheckpointRead extends CheckpointContent {
  /** The needed items that are not among those of the state. */
  readonly needed: readonly Item[];
}

interface Stored {
  readonly v: typeof schemaVersion;
  readonly snapshot: Snapshot;
  readonly places: readonly number[];
  readonly changes: readonly StoredChange[];
  readonly needed: readonly Item[];
  readonly loop?: Json;
}

interface StoredChange {
  readonly n: number;
  readonly to?: number;
  readonly itemId?: Extract<Change, { itemId: unknown }>["itemId"];
}

const stored = object<Stored>({
  v: version,
  snapshot: snapshotShape,
  places: list(count),
  changes: list(
    object<StoredChange>({ n: count, to: optional(count), itemId: optional(id<ItemId>()) }),
  ),
  needed: list(item),
  loop: optional(json),
});

/**
 * A checkpoint of a session for `SessionStore.keepCheckpoint`. Drafts are left out: lanes are read from
 * the log. Its size is bounded by the newest items within the usual budget, and what is needed besides.
 */
export function encodeCheckpoint(
  content: CheckpointContent,
  bytes: number = defaultSnapshotBytes,
): Checkpoint {
  const { state, places, changes } = newestItems(content.paged, bytes);
  const held = new Set(state.items);
  const encoded = encode(stored, {
    v: schemaVersion,
    snapshot: snapshot({ ...state, lanes: [] }),
    places: places.toArray(),
    changes,
    needed: (content.needed ?? []).filter((one) => !held.has(one)),
    ...(content.loop === undefined ? {} : { loop: content.loop }),
  });
  return { head: state.head, text: JSON.stringify(encoded) };
}

/** What a checkpoint holds, or nothing if it is malformed, of another version or of another session. */
export function decodeCheckpoint(
  uid: SessionUid,
  { head, text }: Checkpoint,
): CheckpointRead | undefined {
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch {
    return undefined;
  }
  const decoded = decodeBy(stored, value);
  if (!decoded.ok) return undefined;
  const { snapshot: taken, places, changes, needed, loop } = decoded.value;
  const isOwn = taken.uid === uid && taken.head === head && places.length === taken.items.length;
  if (!isOwn || !changes.every(isChange)) return undefined;
  return { paged: { state: restore(taken), places: List.of(places), changes }, needed, loop };
}

function isChange(change: StoredChange): change is Change {
  return (change.to === undefined) !== (change.itemId === undefined);
}

/** A session as it was read from its store. */
export interface SessionRead {
  readonly paged: PagedState;
  /** The facts that were read, without a gap up to the head. */
  readonly facts: readonly Fact[];
  /** The checkpoint that the state rests on; left out if it rests on all facts. */
  readonly checkpoint?: CheckpointRead;
}

/** A session, and the store that it is read from. */
export interface StoredSession {
  readonly store: Pick<SessionStore, "read" | "checkpoint">;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
}

/** The number of the fact after which facts are wanted, by the head of the state that is known already. */
export type FactsAfter = (head: number) => number;

/**
 * Reads a session by its newest checkpoint and the facts after it; all facts if there is no checkpoint,
 * or if a reset is among the facts after it, which may undo what is in it. `after` asks for more facts than
 * the state needs. Rejects if the store fails; a checkpoint that can't be read is none.
 */
export async function readSession(
  session: StoredSession,
  after: FactsAfter = (head) => head,
): Promise<SessionRead> {
  const { store, uid, sessionId } = session;
  const kept = await store.checkpoint?.(uid).catch(() => undefined);
  const checkpoint = kept === undefined ? undefined : decodeCheckpoint(uid, kept);
  if (checkpoint !== undefined) {
    const read = await readFrom(session, checkpoint.paged, after);
    if (read !== undefined) return { ...read, checkpoint };
  }
  const facts = await store.read(uid);
  return { paged: replayPaged(emptyState(uid, sessionId), facts), facts };
}

/** Reads a session of which the caller has a state already. Else as `readSession`. */
export async function readAfter(
  session: StoredSession,
  start: PagedState,
  after: FactsAfter = (head) => head,
): Promise<SessionRead> {
  return (await readFrom(session, start, after)) ?? (await readSession(session, after));
}

/** The state and what follows it, or nothing if a reset follows it. */
async function readFrom(
  { store, uid }: StoredSession,
  start: PagedState,
  after: FactsAfter,
): Promise<SessionRead | undefined> {
  const { head } = start.state;
  const facts = await store.read(uid, { after: Math.max(0, Math.min(head, after(head))) });
  const tail = facts.filter(({ n }) => n > head);
  const paged = tail.some(isReset) ? undefined : pagedAfter(start, tail);
  return paged && { paged, facts };
}

/** The state after these facts, or nothing if they don't follow it. */
function pagedAfter(start: PagedState, facts: readonly Fact[]): PagedState | undefined {
  let paged = start;
  for (const fact of facts) {
    const next = applyPaged(paged, fact);
    if (next.applied.verdict !== "applied") return undefined;
    ({ paged } = next);
  }
  return paged;
}
