import { defaultPayloadConverter } from "@temporalio/common";
import type { Headers } from "@temporalio/common";
import type { WorkflowArgs } from "./names.ts";

/** The memo by which a workflow has a session. Temporal's own screens show it. */
export const sessionMemoKey = "millrace-session";
/** The header by which its activities know it. */
const sessionHeader = "millrace-session";

/** The activity that ends the session's run with its workflow. */
export const finishActivity = "millraceFinishRun";

/** A session as an activity of its workflow knows it. Ids and numbers. */
export interface ActivitySession extends WorkflowArgs {
  /** True if no earlier run of the workflow was continued as this one. */
  readonly fresh: boolean;
  /** The number of the activity in its workflow's run. */
  readonly generation: number;
  /** The lane of what the activity streams: no other activity has it at the same time. */
  readonly lane: number;
}

/** How the workflow ended. */
export type WorkflowEnding =
  | { readonly outcome: "completed" | "aborted" }
  | { readonly outcome: "failed"; readonly message: string };

export interface FinishActivities {
  readonly [finishActivity]: (ending: WorkflowEnding) => Promise<void>;
}

export function withSession(headers: Headers, session: ActivitySession): Headers {
  return { ...headers, [sessionHeader]: defaultPayloadConverter.toPayload(session) };
}

export function sessionIn(headers: Headers): ActivitySession | undefined {
  const payload = headers[sessionHeader];
  return payload && defaultPayloadConverter.fromPayload<ActivitySession>(payload);
}

/** The session that a workflow was started with. */
export function sessionOf(memo: Readonly<Record<string, unknown>> = {}): WorkflowArgs | undefined {
  const session = memo[sessionMemoKey] as WorkflowArgs | undefined;
  if (typeof session !== "object" || typeof session.uid !== "string") return undefined;
  const { uid, sessionId, tenant } = session;
  return { uid, sessionId, ...(tenant === undefined ? {} : { tenant }) };
}
