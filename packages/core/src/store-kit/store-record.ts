import { MillraceError } from "../errors.ts";
import { ownerText, sessionId, titleText } from "../ids.ts";
import type { SessionId, SessionUid } from "../ids.ts";
import type { Metadata } from "../json.ts";
import type {
  CreateOptions,
  SessionParent,
  SessionRecord,
  UpdateRequest,
} from "../ports/session-record.ts";
import type { StoreRow } from "./store-row.ts";
import { parentOf } from "./child.ts";
import type { ChildSession } from "./store-rules.ts";
import { statusOf } from "./store-work.ts";

/** What a store keeps of a session that is in no fact of it. */
export interface StoreDetails {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly owner?: string | undefined;
  readonly title?: string | undefined;
  readonly parent?: SessionParent | undefined;
  readonly metadata: Metadata;
  readonly revision: number;
  readonly createdAt: number;
}

/** The details of a new session. Throws `invalid_id` for a text that can't be what it is given for. */
export function newDetails(
  { owner, title, metadata = {}, ...given }: CreateOptions,
  { uid, createdAt }: Pick<StoreDetails, "uid" | "createdAt">,
): StoreDetails {
  const id = sessionId(given.sessionId);
  if (parentOf(id) !== undefined)
    throw new MillraceError(
      "invalid_id",
      `${id} is a name for a sub-agent's session: choose another`,
    );
  return {
    uid,
    sessionId: id,
    ...(owner === undefined ? {} : { owner: ownerText(owner) }),
    ...(title === undefined ? {} : { title: titleText(title) }),
    metadata,
    revision: 1,
    createdAt,
  };
}

/** The details of the session in which a sub-agent works on a call: whose it is, and what it may, are its parent's. */
export function childDetails(
  { sessionId: id, callId }: ChildSession,
  { uid: parent, sessionId: name, owner, metadata }: StoreDetails,
  { uid, createdAt }: Pick<StoreDetails, "uid" | "createdAt">,
): StoreDetails {
  return {
    uid,
    sessionId: id,
    ...(owner === undefined ? {} : { owner }),
    parent: { uid: parent, sessionId: name, callId },
    metadata,
    revision: 1,
    createdAt,
  };
}

/** What a fork is created with: what it is given, and of its source what is left out. */
export function forkDetails(
  { sessionId: name, owner, title, metadata }: CreateOptions,
  source: Pick<StoreDetails, "owner" | "title" | "metadata">,
): CreateOptions {
  return {
    sessionId: name,
    owner: owner ?? source.owner,
    title: title ?? source.title,
    metadata: metadata ?? source.metadata,
  };
}

/** Throws `invalid_id` for a text that can't be a title. */
export function checkUpdate({ title }: UpdateRequest): void {
  if (typeof title === "string") titleText(title);
}

/** The details after an update. Undefined if they have another revision than it asks for. */
export function changeDetails(
  { title: known, ...before }: StoreDetails,
  change: UpdateRequest,
): StoreDetails | undefined {
  checkUpdate(change);
  const { title = known, metadata = before.metadata, revision = before.revision } = change;
  if (revision !== before.revision) return undefined;
  const named = title === undefined || title === null ? {} : { title };
  return { ...before, ...named, metadata, revision: revision + 1 };
}

/** The record of a session, as every store makes it. */
export function makeRecord(
  details: StoreDetails,
  row: Pick<StoreRow, "head" | "incarnation" | "run" | "queue" | "calls" | "updatedAt">,
): SessionRecord {
  const { head, incarnation, updatedAt } = row;
  return { ...details, incarnation, head, updatedAt, status: statusOf(row) };
}

/** Throws `invalid_event` for the first input of a session that an empty session does not accept. */
export function requireFirst(outcome: string, id: string): void {
  if (outcome === "accepted") return;
  throw new MillraceError(
    "invalid_event",
    `${id} can't begin with what it was given as its first input`,
  );
}
