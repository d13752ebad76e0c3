import { ApplicationFailure, Context } from "@temporalio/activity";
import type { Info } from "@temporalio/activity";
import type { StepContext } from "@millrace/agent/engine";

/** How often a heartbeat is sent within its time-out. The SDK throttles what it hands to the server. */
const beatsPerTimeout = 4;

/**
 * Shows from the first line on that the worker lives, whatever the step waits for. Not at once: the time-out
 * runs from the start of the step, and most tools end before the first heartbeat is due.
 */
export function beating(): Disposable {
  const { info, heartbeat } = Context.current();
  const { heartbeatTimeoutMs } = info;
  if (info.isLocal || heartbeatTimeoutMs === undefined)
    return { [Symbol.dispose]: () => undefined };
  const beat = heartbeat.bind(Context.current());
  const timer = setInterval(beat, heartbeatTimeoutMs / beatsPerTimeout);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * A cancellation by Temporal never means a person's stop, which is a fact: the step was lost or its
 * worker shuts down, so it ends without storing anything, and is repeated.
 */
export function contextOf(): StepContext {
  const context = Context.current();
  const { workflowId, runId } = executionOf(context.info);
  const { activityId } = context.info;
  const handle = context.client.workflow.getHandle(workflowId);
  return {
    signal: context.cancellationSignal,
    isCurrent: async () => {
      const described = await handle.describe();
      return described.runId === runId && described.status.name === "RUNNING";
    },
    // A worker that shuts down, or whose store is away, gives the step back with another failure.
    wasLost: async () => {
      const { raw } = await handle.describe();
      const own = raw.pendingActivities?.find((pending) => pending.activityId === activityId);
      const { timeoutFailureInfo } = own?.lastFailure ?? {};
      return timeoutFailureInfo !== undefined && timeoutFailureInfo !== null;
    },
  };
}

/**
 * Whether the step was given up because its workflow is over, as after an operator's *Terminate*. A step that was
 * repeated elsewhere, and one whose workflow was reset, still have one. Asks Temporal only for a step that is lost.
 */
export async function hasLostWorkflow(): Promise<boolean> {
  const { cancellationDetails, client, info } = Context.current();
  if (cancellationDetails?.notFound !== true) return false;
  const { workflowId } = executionOf(info);
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name !== "RUNNING";
  } catch {
    return false; // Temporal is away: the sweep finds it later
  }
}

export function executionOf({ workflowExecution }: Info): NonNullable<Info["workflowExecution"]> {
  if (workflowExecution !== undefined) return workflowExecution;
  const why = "this activity is a step of a session's workflow, and was started without one";
  throw ApplicationFailure.nonRetryable(`${why}: start agentWorkflow instead`);
}

export function failureOf(error: unknown): Error {
  const { cancellationDetails } = Context.current();
  if (cancellationDetails?.workerShutdown === true) {
    // Repeated at once: the default pause is for workers that fail.
    return ApplicationFailure.create({
      message: "the worker shuts down, and the step goes on elsewhere",
      type: "WorkerShutdown",
      nextRetryDelay: "1 ms",
    });
  }
  return error instanceof Error ? error : new Error(String(error));
}
