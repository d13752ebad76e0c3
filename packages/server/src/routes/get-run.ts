import type { RouteWork } from "../http/route-context.ts";
import { sessionOf } from "./common.ts";
import { waitForRun } from "./wait-for-run.ts";

/** Reads a run. With `Prefer: wait` the answer comes with its end, or with what is after that time. */
export const getRun: RouteWork = async (context) => {
  const { runId = "" } = context.params;
  const { waitMs } = context;
  const run = await waitForRun(context, sessionOf(context), runId);
  const headers = waitMs === 0 ? {} : { "preference-applied": `wait=${waitMs / 1_000}` };
  return { status: 200, headers, json: run };
};
