// A workflow of one's own around the loop: here it would call further activities between reply and tools.
import { executeTools, openSession, streamReply, waitForInput } from "@millrace/temporal/workflow";
import type { WorkflowArgs } from "@millrace/temporal/workflow";

export { agentWorkflow } from "@millrace/temporal/workflow";

// #region own
export async function supportWorkflow(args: WorkflowArgs): Promise<number> {
  const session = openSession(args);
  await waitForInput(session);
  let replies = 0;
  for (;;) {
    const reply = await streamReply(session); // every viewer sees it; the history gets its outline
    if (reply === undefined) return replies; // nothing is left to do: the next input starts the next one
    replies += 1;
    if (reply.stop === "tools") await executeTools(session);
  }
}
// #endregion
