import { Context } from "@temporalio/activity";
import type { EngineSession } from "@millrace/agent/engine";
import { createInbox } from "@millrace/core";
import { randomId } from "@millrace/core/memory";
import type { WorkflowArgs } from "../names.ts";
import { workOf } from "../steps.ts";
import type { EngineSettings, StepActivities, StepArgs, StepResult } from "../steps.ts";
import { beating, contextOf, executionOf, failureOf, hasLostWorkflow } from "./activity-context.ts";
import type { OpenSessions, OpenSessionsOptions } from "./open-sessions.ts";

/** The activities of a worker: each opens the session, and performs one step in it. */
export function activitiesOf(
  sessions: OpenSessions<EngineSession>,
  options: Pick<OpenSessionsOptions, "log" | "blobs">,
  engine: EngineSettings,
): StepActivities {
  const stepOf =
    (name: keyof typeof workOf) =>
    async (args: StepArgs): Promise<StepResult> => {
      const { info } = Context.current();
      using _ = beating();
      const { runId: by } = executionOf(info);
      const { uid, sessionId, tenant, ...request } = args;
      const session = await sessions.of({ uid, sessionId, tenant });
      if (session === undefined) return { outcome: "gone" };
      const work = workOf[name];
      const step = { ...request, by, attempt: info.attempt, ...(work && { work }) };
      try {
        const answer = await session.step(step, contextOf());
        return args.wantsSettings === true ? { ...answer, engine } : answer;
      } catch (error) {
        // Not waited for: nothing listens to this step any more.
        if (await hasLostWorkflow()) void session.release(by).catch(() => undefined);
        throw failureOf(error);
      }
    };
  return {
    look: stepOf("look"),
    reply: stepOf("reply"),
    respond: stepOf("respond"),
    compact: stepOf("compact"),
    tools: stepOf("tools"),
    stop: async (session) => await stop(sessions, options, session),
  };
}

async function stop(
  sessions: OpenSessions<EngineSession>,
  { log, blobs }: Pick<OpenSessionsOptions, "log" | "blobs">,
  { uid, tenant }: WorkflowArgs,
): Promise<void> {
  const inbox = createInbox({
    uid,
    store: sessions.storeOf({ tenant }),
    log,
    blobs,
    makeId: randomId,
  });
  await inbox.abort({ reason: "its workflow was cancelled in Temporal" });
}
