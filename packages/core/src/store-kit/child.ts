/**
 * Sessions of sub-agents. Such a session is made by `SessionStore.open` alone, with the intent of the call that it works
 * on. Access follows the `parent` of its record; its name only says where to look.
 */
import { sessionId, sessionUid } from "../ids.ts";
import type { SessionId, SessionUid } from "../ids.ts";
import type { SessionRecord } from "../ports/session-record.ts";

/** The name of the session in which a sub-agent works on a call, of the key of the call's effect. */
export function childSessionId(effectKey: string): SessionId {
  return sessionId(`sub_${effectKey}`);
}

/** The names of a session's children begin with this: the key of an effect begins with its uid and an item's id. */
export function childPrefix(uid: SessionUid): string {
  return `sub_${uid}_item_`;
}

/** The uid of the session whose child has this name. Undefined for any other name. */
export function parentOf(id: string): SessionUid | undefined {
  const [, uid] = /^sub_([A-Za-z0-9_-]{1,64}?)_item_/.exec(id) ?? [];
  return uid === undefined ? undefined : sessionUid(uid);
}

/** True for a record of a sub-agent's session, and for any session that has the name of one. */
export function isChild({
  parent,
  sessionId: id,
}: Pick<SessionRecord, "parent" | "sessionId">): boolean {
  return parent !== undefined || parentOf(id) !== undefined;
}

/**
 * True if the store made this session as a child of that one. Earlier releases gave the child of a session without an
 * owner an owner of its own.
 */
export function isChildOf(
  { parent, owner }: Pick<SessionRecord, "parent" | "owner">,
  above: Pick<SessionRecord, "uid" | "owner">,
): boolean {
  return parent?.uid === above.uid && (above.owner === undefined || owner === above.owner);
}
