import { ContinueAsNew, isCancellation, workflowInfo } from "@temporalio/workflow";
import type { ActivityInput, LocalActivityInput, WorkflowInterceptors } from "@temporalio/workflow";
import type { Headers } from "@temporalio/common";
import { sessionOf, withSession } from "../session-header.ts";
import type { WorkflowEnding } from "../session-header.ts";
import { finishRun } from "./finish-run.ts";

/**
 * Tells each activity of a workflow which session it is of, and ends the session's run with the workflow.
 * Does nothing in workflows that were started without a session. Child workflows have sessions of their
 * own: two runs can't claim one.
 */
export function interceptors(): WorkflowInterceptors {
  const lanes = new Lanes();
  /** The activity's headers. Temporal knows the memo from the workflow's first line on, and not before. */
  const headersOf = (
    { headers, seq }: ActivityInput | LocalActivityInput,
    lane: number,
  ): Headers => {
    const { memo, continuedFromExecutionRunId } = workflowInfo();
    const session = sessionOf(memo);
    if (session === undefined) return headers;
    const fresh = continuedFromExecutionRunId === undefined;
    return withSession(headers, { ...session, fresh, generation: seq, lane });
  };
  const mustFinish = (): boolean => lanes.wereUsed && sessionOf(workflowInfo().memo) !== undefined;
  return {
    outbound: [
      {
        scheduleActivity: (input, next) =>
          lanes.during((lane) => next({ ...input, headers: headersOf(input, lane) })),
        scheduleLocalActivity: (input, next) =>
          lanes.during((lane) => next({ ...input, headers: headersOf(input, lane) })),
      },
    ],
    inbound: [
      {
        execute: async (input, next) => {
          let result: unknown;
          try {
            result = await next(input);
          } catch (error) {
            if (mustFinish() && !(error instanceof ContinueAsNew)) await finishRun(endingBy(error));
            throw error;
          }
          if (mustFinish()) await finishRun();
          return result;
        },
      },
    ],
  };
}

function endingBy(error: unknown): WorkflowEnding {
  if (isCancellation(error)) return { outcome: "aborted" };
  return { outcome: "failed", message: error instanceof Error ? error.message : String(error) };
}

/** Gives each activity in progress a lane that no other has, the lowest that is free. */
class Lanes {
  readonly #taken = new Set<number>();
  #wereUsed = false;

  /** Whether any activity was begun. */
  get wereUsed(): boolean {
    return this.#wereUsed;
  }

  async during<Result>(work: (lane: number) => Promise<Result>): Promise<Result> {
    let lane = 0;
    while (this.#taken.has(lane)) lane += 1;
    this.#taken.add(lane);
    this.#wereUsed = true;
    try {
      return await work(lane);
    } finally {
      this.#taken.delete(lane);
    }
  }
}
