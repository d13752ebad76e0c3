import type { Usage } from "@millrace/core";
import type { SessionParent, SessionRecord } from "@millrace/core/ports";
import { readSession } from "@millrace/core/reading";
import type { Metadata } from "../http/types.ts";
import { withoutMark } from "./created-by.ts";
import type { ReadableSession } from "./common.ts";

/** A session as clients see it. */
export interface SessionJson {
  readonly id: string;
  readonly title?: string | undefined;
  readonly metadata: Metadata;
  readonly owner?: string | undefined;
  readonly parent?: Omit<SessionParent, "uid"> | undefined;
  readonly status: SessionRecord["status"];
  readonly runId?: string | undefined;
  readonly head: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Not in lists: it is read from a session's facts. */
  readonly usage?: Usage | undefined;
}

/** A record, for lists. */
export function sessionJson(record: SessionRecord): SessionJson {
  const { sessionId: id, title, metadata, owner, parent, status, head } = record;
  const { createdAt, updatedAt } = record;
  const call = parent && { parent: { sessionId: parent.sessionId, callId: parent.callId } };
  const more = { title, metadata: withoutMark(metadata), owner, ...call };
  return { id, ...more, status, head, createdAt, updatedAt };
}

/** With its usage and the run that is on, or that begins next. Costs the facts since the last checkpoint. */
export async function fullSessionJson(
  store: ReadableSession["store"],
  record: SessionRecord,
): Promise<SessionJson> {
  const { paged } = await readSession({ store, ...record });
  const { usage, run, head } = paged.state;
  return { ...sessionJson(record), runId: run?.runId, head, usage };
}

/** The tag of a session: its first part changes with what clients set, the second with its facts. */
export function sessionTag({ uid, revision, head }: SessionRecord): string {
  return `"${uid}.${revision}.${head}"`;
}

/** True if `If-Match` names this session at its revision. Facts that came since are no conflict. */
export function matchesTag(ifMatch: string, { uid, revision }: SessionRecord): boolean {
  if (ifMatch.trim() === "*") return true;
  const own = `"${uid}.${revision}.`;
  return ifMatch.split(",").some((each) => each.trim().replace(/^W\//, "").startsWith(own));
}
