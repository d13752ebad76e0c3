import type { SessionUid } from "@millrace/core";

// What client, workflow and worker agree on. A change here is a change of stored histories.

/** The workflow of drivers that name none. */
export const defaultWorkflowType = "agentWorkflow";

/** The signal that facts have come. Its one argument is the number of the last one; it has no content. */
export const inputSignalName = "said";

/** The task queue of workers that name none. */
export const defaultTaskQueue = "millrace";

/** The argument of the workflow of a session. Ids only: content never enters a history. */
export interface WorkflowArgs {
  readonly uid: SessionUid;
  readonly sessionId: string;
  /** Set where the worker's store serves several tenants. */
  readonly tenant?: string | undefined;
}

/** A session has one workflow at a time, and that is its id. */
export function workflowIdOf(uid: SessionUid): string {
  return `session:${uid}`;
}
