import { ApplicationFailure, Context } from "@temporalio/activity";
import type { Info } from "@temporalio/activity";
import type { StepContext } from "@millrace/agent/engine";
import { createInbox } from "@millrace/core";
import { randomId } from "@millrace/core/memory";
import type { WorkflowArgs } from "../names.ts";
import { workOf } from "../steps.ts";
import type { EngineSettings, StepActivities, StepArgs, StepResult } from "../steps.ts";
import type { Seats, SeatsOptions } from "./seats.ts";

/** How often a heartbeat is sent within its time-out. The SDK throttles what it hands to the server. */
const beatsPerTimeout = 4;

/** The activities of a worker: each finds the session's seat, and performs one step in it. */
export function activitiesOf(
  seats: Seats,
  options: Pick<SeatsOptions, "log" | "blobs">,
  engine: EngineSettings,
): StepActivities {
  const stepOf =
    (name: keyof typeof workOf) =>
    async (args: StepArgs): Promise<StepResult> => {
      const { info } = Context.current();
      using _ = beating();
      const { runId: by } = executionOf(info);
      const { uid, sessionId, tenant, ...request } = args;
      const seat = await seats.of({ uid, sessionId, tenant });
      if (seat === undefined) return { outcome: "gone" };
      const work = workOf[name];
      const step = { ...request, by, attempt: info.attempt, ...(work && { work }) };
      try {
        const answer = await seat.step(step, contextOf());
        return args.wantsSettings === true ? { ...answer, engine } : answer;
      } catch (error) {
        throw failureOf(error);
      }
    };
  return {
    look: stepOf("look"),
    reply: stepOf("reply"),
    respond: stepOf("respond"),
    compact: stepOf("compact"),
    tools: stepOf("tools"),
    stop: async (session) => await stop(seats, options, session),
  };
}

/**
 * Shows from the first line on that the worker lives, whatever the step waits for. Not at once: the time-out
 * runs from the start of the step, and most tools end before the first heartbeat is due.
 */
function beating(): Disposable {
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
function contextOf(): StepContext {
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

function executionOf({ workflowExecution }: Info): NonNullable<Info["workflowExecution"]> {
  if (workflowExecution !== undefined) return workflowExecution;
  const why = "this activity is a step of a session's workflow, and was started without one";
  throw ApplicationFailure.nonRetryable(`${why}: start agentWorkflow instead`);
}

function failureOf(error: unknown): Error {
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

async function stop(
  seats: Seats,
  { log, blobs }: Pick<SeatsOptions, "log" | "blobs">,
  { uid, tenant }: WorkflowArgs,
): Promise<void> {
  const inbox = createInbox({
    uid,
    store: seats.storeOf({ tenant }),
    log,
    blobs,
    makeId: randomId,
  });
  await inbox.abort({ reason: "its workflow was cancelled in Temporal" });
}
