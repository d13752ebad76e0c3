import { proxyActivities, proxyLocalActivities } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import type { WorkflowArgs } from "../names.ts";
import type { EngineSettings, StepActivities, StepArgs, StepResult } from "../steps.ts";

/** Steps that take minutes. Their worker shows by heartbeats that it lives, so this only bounds a hang. */
const longest = "24 hours";
/** The attempt's number is a part of epochs, 12 bits long. */
const mostAttempts = 4_000;

const retry = {
  initialInterval: 200,
  backoffCoefficient: 2,
  maximumInterval: "5 s", // a session that waits for a store goes on soon after it is back
  maximumAttempts: mostAttempts,
} as const;

/**
 * A look takes milliseconds, so it is local: one event. What takes longer (a store that is away, a slow
 * policy) is given up here and done as an activity, which may wait.
 */
const near = proxyLocalActivities<StepActivities>({
  startToCloseTimeout: "5 s",
  scheduleToCloseTimeout: "5 s",
  retry: { maximumAttempts: 1 },
});

export type LongStep = "reply" | "respond" | "compact" | "tools";

/** Begins steps as activities. */
export class StepRunner {
  engine: EngineSettings = { heartbeatMs: 20_000 };

  async look(args: StepArgs): Promise<StepResult> {
    try {
      return await near.look(args);
    } catch {
      return await this.#far({ summary: "look again, with more time" }).look(args);
    }
  }

  async run(step: LongStep, args: StepArgs, options: ActivityOptions): Promise<StepResult> {
    return await this.#far(options)[step](args);
  }

  async stop(args: WorkflowArgs): Promise<void> {
    await this.#far({ summary: "stop" }).stop(args);
  }

  #far(options: ActivityOptions): ReturnType<typeof proxyActivities<StepActivities>> {
    return proxyActivities<StepActivities>({
      startToCloseTimeout: longest,
      heartbeatTimeout: this.engine.heartbeatMs,
      retry,
      ...options,
    });
  }
}
