import { runIdOf } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import type { SessionRecord } from "@millrace/core/ports";
import { notFound } from "../http/problem.ts";
import type { RouteContext, RouteWork } from "../http/route-context.ts";
import { readRunFacts } from "./read-run.ts";
import { runJson } from "./run-json.ts";
import type { RunJson } from "./run-json.ts";
import { sessionOf } from "./common.ts";

/** True for the fact after which nothing of the run follows: its end, or its prompt taken back. */
function endsRun(message: Followed["message"] | Fact, runId: string): boolean {
  if (!("type" in message)) return false;
  if (message.type === "run_finished") return message.runId === runId;
  return message.type === "queue_updated" && runIdOf(message.inputId) === runId;
}

/**
 * Reads a run, and waits up to `waitMs` for its end. Answers with what is when the wait is over, when the
 * client is gone, and when the server drains. Waiting costs a place in the hub's room, no poll of the store.
 */
export async function waitForRun(
  context: Pick<RouteContext, "store" | "hub" | "signal" | "waitMs" | "clock">,
  session: Pick<SessionRecord, "uid" | "sessionId">,
  runId: string,
): Promise<RunJson> {
  const { hub, waitMs, clock } = context;
  const { uid, sessionId } = session;
  const read = await readRun(context, session, runId);
  if (waitMs <= 0 || read.run.status === "finished") return read.run;
  const late = new AbortController();
  const inTime = clock.after(waitMs, () => late.abort(), { idle: true });
  const signal = AbortSignal.any([context.signal, late.signal]);
  const cursor = { uid, head: read.head, lanes: [] };
  try {
    for await (const { message } of hub.watch({ uid, sessionId, cursor, signal })) {
      if (endsRun(message, runId)) break;
      // A reader that fell behind gets a snapshot, in which the end may be.
      if (!("items" in message)) continue;
      if ((await readRun(context, session, runId)).run.status === "finished") break;
    }
  } finally {
    inTime();
  }
  return (await readRun(context, session, runId)).run;
}

async function readRun(
  { store }: Pick<RouteContext, "store">,
  { uid, sessionId }: Pick<SessionRecord, "uid" | "sessionId">,
  runId: string,
): Promise<{ readonly run: RunJson; readonly head: number }> {
  const read = await readRunFacts(store, uid, runId);
  const isPaused = (await store.find(sessionId))?.status === "paused";
  const run = read && runJson(read.facts, isPaused);
  if (read === undefined || run === undefined) throw notFound();
  return { run, head: read.head };
}

/** Reads a run. With `Prefer: wait` the answer comes with its end, or with what is after that time. */
export const getRun: RouteWork = async (context) => {
  const { runId = "" } = context.params;
  const { waitMs } = context;
  const run = await waitForRun(context, sessionOf(context), runId);
  const headers = waitMs === 0 ? {} : { "preference-applied": `wait=${waitMs / 1_000}` };
  return { status: 200, headers, json: run };
};
