import type { SessionRecord } from "@millrace/core/ports";
import type { WorkflowArgs } from "../names.ts";
import { sessionMemoKey } from "../session-header.ts";

/**
 * The memo of a workflow that writes a session: `client.workflow.start(…, { memo: sessionMemo(record) })`.
 * Its activities know the session from then on, and so does who looks at the workflow in Temporal.
 */
export function sessionMemo({
  uid,
  sessionId,
  tenant,
}: Pick<SessionRecord, "uid" | "sessionId" | "tenant">): Record<string, WorkflowArgs> {
  return { [sessionMemoKey]: { uid, sessionId, ...(tenant === undefined ? {} : { tenant }) } };
}
