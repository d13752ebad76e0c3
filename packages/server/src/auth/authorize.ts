import type { SessionRecord } from "@millrace/core/ports";
import type { SessionAction, Identity, ServedSession } from "../http/identity.ts";
import type { MaybePromise } from "../http/types.ts";

/** What the one authoriser is asked. */
export interface AuthorizeQuestion {
  readonly who: Identity;
  readonly action: SessionAction;
  /** As the request would leave it: with the metadata that it would write. */
  readonly session: ServedSession;
  /** As it is now. Set where a request changes metadata, which may choose the agent, its model and its tools. */
  readonly current?: ServedSession | undefined;
}

/** Answers whether an identity may do something to a session. */
export type Authorize = (asked: AuthorizeQuestion) => MaybePromise<boolean>;

/**
 * The role table: owners may do all, admins of the tenant all but send and decide for others, services
 * all. A session without an owner is for admins and services.
 */
export const roleTable = ({ who, action, session }: AuthorizeQuestion): boolean => {
  if (session.tenant !== who.tenant) return false;
  if (session.owner !== "" && session.owner === who.user) return true;
  if (who.roles?.includes("service") === true) return true;
  if (who.roles?.includes("admin") !== true) return false;
  return action === "list" || action === "read" || action === "stop" || action === "manage";
};

/** A record as `authorize` gets it. The tenant is the one whose store it was read from. */
export function servedSession(record: SessionRecord, tenant: string): ServedSession {
  const { sessionId: id, owner = "", metadata, parent } = record;
  const call = parent && { parent: { sessionId: parent.sessionId, callId: parent.callId } };
  return { id, tenant, owner, metadata, ...call };
}
