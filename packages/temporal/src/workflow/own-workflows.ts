import { executeChild } from "@temporalio/workflow";
import { workflowIdOf } from "../names.ts";
import type { WorkflowArgs } from "../names.ts";
import type { agentWorkflow } from "./agent-workflow.ts";
import type { LastReply } from "./session-loop.ts";
import type { WorkflowSession } from "./workflow-session.ts";

/**
 * Waits until the session has an input to answer, and begins its run. False if the session was removed or
 * has another driver: then this workflow has nothing more to do for it.
 */
export async function waitForInput(session: WorkflowSession): Promise<boolean> {
  await session.drive({ begins: [], waitsForInput: true });
  return !session.isOver;
}

/**
 * Streams the model's next reply to everybody who watches the session, retries and summaries of a long
 * context included. Resolves when it is stored, to its outline: the text is in the store, and never in
 * this workflow's history. Undefined if there is nothing to reply to.
 */
export async function streamReply(session: WorkflowSession): Promise<LastReply | undefined> {
  const before = session.lastReply;
  await session.drive({ begins: ["reply", "respond", "compact"] });
  return session.lastReply === before ? undefined : session.lastReply;
}

/**
 * Runs the calls of the last reply, and asks people where a policy wants it. Resolves when each call has
 * its result.
 */
export async function executeTools(session: WorkflowSession): Promise<void> {
  await session.drive({ begins: ["execute"] });
}

/** Drives another session in a workflow of its own, and waits until it has no work. */
export async function runAgent(args: WorkflowArgs): Promise<void> {
  const options = { workflowId: workflowIdOf(args.uid), args: [args] as [WorkflowArgs] };
  await executeChild<typeof agentWorkflow>("agentWorkflow", options);
}
