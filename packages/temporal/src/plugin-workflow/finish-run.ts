import { CancellationScope, proxyActivities, proxyLocalActivities } from "@temporalio/workflow";
import { finishActivity } from "../session-header.ts";
import type { FinishActivities, WorkflowEnding } from "../session-header.ts";

/** Takes milliseconds, so it is local: one event. With a store that is away it becomes an activity, which may wait. */
const near = proxyLocalActivities<FinishActivities>({
  startToCloseTimeout: "5 s",
  scheduleToCloseTimeout: "5 s",
  retry: { maximumAttempts: 1 },
});
const far = proxyActivities<FinishActivities>({
  startToCloseTimeout: "1 minute",
  retry: { maximumInterval: "5 s" },
});

/**
 * Ends the session's run, so that viewers see it end: for a workflow that lives on and answers the next
 * question later. The end of the workflow does the same by itself. Call it while no model is being asked.
 */
export async function finishRun(ending: WorkflowEnding = { outcome: "completed" }): Promise<void> {
  await CancellationScope.nonCancellable(async () => {
    try {
      await near[finishActivity](ending);
    } catch {
      await far[finishActivity](ending);
    }
  });
}
