import { isGrpcServiceError } from "@temporalio/client";
import type { Client } from "@temporalio/client";
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import { saidSignal, workflowIdOf } from "../names.ts";
import type { WorkflowArgs } from "../names.ts";
import type { Wake } from "./wakes.ts";

/** The workflow that is started, and where. */
export interface SignalOptions {
  readonly workflowType: string;
  readonly taskQueue: string;
}

/** How long one try may take. */
const tryMs = 5_000;
/** A workflow task whose worker was killed is given to another after this time. Temporal's default is 10 s. */
const taskMs = 5_000;

/**
 * Sends the head of a session to its workflow, and starts the workflow if none runs. Ids and a number:
 * content never enters a history. Rejects after some seconds without an answer.
 */
export async function signalSession(
  client: Client,
  { workflowType, taskQueue }: SignalOptions,
  wake: Wake,
): Promise<void> {
  const { uid, sessionId, tenant, head } = wake;
  const args: WorkflowArgs = { uid, sessionId, tenant };
  await client.withDeadline(Date.now() + tryMs, () =>
    client.workflow.signalWithStart(workflowType, {
      workflowId: workflowIdOf(uid),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      taskQueue,
      workflowTaskTimeout: taskMs,
      args: [args],
      signal: saidSignal,
      signalArgs: [head],
      staticSummary: summaryOf(sessionId),
    }),
  );
}

/** INVALID_ARGUMENT and FAILED_PRECONDITION: about this workflow, and the same with each try. */
const refusals: readonly number[] = [3, 9];

/** True for an error by which Temporal refuses a signal for good. */
export function isRefusal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (isGrpcServiceError(cause)) return refusals.includes(cause.code);
  return false;
}

/** Temporal admits 400 bytes. */
const mostCharacters = 80;

/** The line that people see beside the workflow's id. */
function summaryOf(sessionId: string): string {
  const name = sessionId.replaceAll(/\s+/g, " ");
  const shown = name.length > mostCharacters ? `${name.slice(0, mostCharacters)}…` : name;
  return `session ${shown.toWellFormed()}`;
}
