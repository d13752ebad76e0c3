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
  return {
    signal: context.cancellationSignal,
    isCurrent: async () => {
      const described = await context.client.workflow.getHandle(workflowId).describe();
      return described.runId === runId && described.status.name === "RUNNING";
    },
  };
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
