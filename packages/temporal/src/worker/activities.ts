import { Context } from "@temporalio/activity";
import type { EngineSeat } from "@millrace/agent/engine";
import { createInbox } from "@millrace/core";
import { randomId } from "@millrace/core/memory";
import type { WorkflowArgs } from "../names.ts";
import { workOf } from "../steps.ts";
import type { EngineSettings, StepActivities, StepArgs, StepResult } from "../steps.ts";
import { beating, contextOf, executionOf, failureOf } from "./activity-context.ts";
import type { Seats, SeatsOptions } from "./seats.ts";

/** The activities of a worker: each finds the session's seat, and performs one step in it. */
export function activitiesOf(
  seats: Seats<EngineSeat>,
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

async function stop(
  seats: Seats<EngineSeat>,
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
