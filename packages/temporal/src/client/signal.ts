import { WorkflowNotFoundError, isGrpcServiceError } from "@temporalio/client";
import type { Client } from "@temporalio/client";
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import { MillraceError } from "@millrace/core";
import { inputSignalName, workflowIdOf } from "../names.ts";
import type { WorkflowArgs } from "../names.ts";
import type { TemporalDriverOptions } from "./options.ts";
import type { Wake } from "./wakes.ts";

/** The workflow of each session, and where it is started. */
export interface SignalOptions {
  readonly workflowType: string;
  readonly taskQueue: string;
  /** Left out: each session has its own. */
  readonly workflowId?: TemporalDriverOptions["workflowId"];
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
  options: SignalOptions,
  wake: Wake,
): Promise<void> {
  const { workflowType, taskQueue } = options;
  const workflowId = idOf(options, wake);
  const { uid, sessionId, tenant, head } = wake;
  const args: WorkflowArgs = { uid, sessionId, tenant };
  await client.withDeadline(Date.now() + tryMs, () =>
    client.workflow.signalWithStart(workflowType, {
      workflowId,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      taskQueue,
      workflowTaskTimeout: taskMs,
      args: [args],
      signal: inputSignalName,
      signalArgs: [head],
      staticSummary: summaryOf(sessionId),
    }),
  );
}

/** Whether a workflow of the session runs. Rejects after some seconds without an answer. */
export async function isRunning(
  client: Client,
  options: SignalOptions,
  session: Omit<Wake, "head">,
): Promise<boolean> {
  const handle = client.workflow.getHandle(idOf(options, session));
  try {
    const described = await client.withDeadline(Date.now() + tryMs, () => handle.describe());
    return described.status.name === "RUNNING";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** INVALID_ARGUMENT and FAILED_PRECONDITION: about this workflow, and the same with each try. */
const refusals: readonly number[] = [3, 9];

/** True for an error that a signal meets each time: Temporal refuses it, or it has no workflow. */
export function isRefusal(error: unknown): boolean {
  if (MillraceError.is(error)) return true;
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (isGrpcServiceError(cause)) return refusals.includes(cause.code);
  return false;
}

/** Throws `invalid_definition` for what a function of the application makes that is no id. */
function idOf({ workflowId }: SignalOptions, session: Omit<Wake, "head">): string {
  const { uid, sessionId, tenant } = session;
  if (workflowId === undefined) return workflowIdOf(uid);
  const what = `workflowId of session ${sessionId}`;
  let id: unknown;
  try {
    id = workflowId({ uid, sessionId, tenant });
  } catch (cause) {
    throw new MillraceError("invalid_definition", `${what} threw an error`, { cause });
  }
  if (typeof id === "string" && id !== "") return id;
  throw new MillraceError("invalid_definition", `${what} is no text`);
}

/** Temporal admits 400 bytes. */
const mostCharacters = 80;

/** The line that people see beside the workflow's id. */
function summaryOf(sessionId: string): string {
  const name = sessionId.replaceAll(/\s+/g, " ");
  const shown = name.length > mostCharacters ? `${name.slice(0, mostCharacters)}…` : name;
  return `session ${shown.toWellFormed()}`;
}
