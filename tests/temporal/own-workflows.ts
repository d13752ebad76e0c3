/** Workflows of an application, around sessions. */
import {
  executeTools,
  openSession,
  runAgent,
  streamReply,
  waitForInput,
} from "@millrace/temporal/workflow";
import type { LastReply, WorkflowArgs, WorkflowSession } from "@millrace/temporal/workflow";

export { agentWorkflow, supportWorkflow } from "../../examples/temporal/workflows.ts";

/** What became of each session. */
export type Replies = readonly (readonly string[])[];

/** Drives two sessions side by side, and waits for the input of both. */
export async function twoSessionsWorkflow(a: WorkflowArgs, b: WorkflowArgs): Promise<Replies> {
  return await Promise.all([openSession(a), openSession(b)].map(replyOnce));
}

/** Drives a session of its own, and then another one in a workflow of that one's own. */
export async function parentWorkflow(own: WorkflowArgs, child: WorkflowArgs): Promise<Replies> {
  const first = await replyOnce(openSession(own));
  await runAgent(child);
  return [first];
}

/** Opens a session twice, which would give out its generations twice. */
export async function openTwiceWorkflow(args: WorkflowArgs): Promise<void> {
  openSession(args);
  openSession(args);
}

async function replyOnce(session: WorkflowSession): Promise<readonly string[]> {
  await waitForInput(session);
  const stops: LastReply["stop"][] = [];
  for (;;) {
    const reply = await streamReply(session);
    if (reply === undefined) return stops;
    stops.push(reply.stop);
    if (reply.stop === "tools") await executeTools(session);
  }
}
