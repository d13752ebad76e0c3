import type { Part, Posted, Refused } from "@millrace/core";
import { readSession } from "@millrace/core/reading";
import type { SessionRecord } from "@millrace/core/ports";
import { inputId } from "@millrace/core/writing";
import type { Answer } from "../http/answer.ts";
import { Problem } from "../http/problem.ts";
import type { RouteContext, RouteWork } from "../http/route-context.ts";
import { overspentProblem } from "./make-once.ts";
import { inboxOf, replayedHeader, sessionOf, traceOf } from "./common.ts";
import { problemOf } from "./refusals.ts";
import { attachmentsOf, sentParts } from "./sent-parts.ts";
import type { SentInput } from "./sent-parts.ts";
import { waitForRun } from "./wait-for-run.ts";
import { cursorOf, sessionStream } from "./session-stream.ts";

/**
 * Stores an input, then begins its run. The answer follows the commit. How the request waits is its own
 * matter: the run goes on whatever becomes of the connection.
 */
export const postInput: RouteWork = async (context) => {
  const session = sessionOf(context);
  const sent = context.body as SentInput & { readonly cursor?: string }; // of the route's shape
  refuseChild(session);
  if (context.form === "stream" && sent.kind !== "prompt") {
    throw new Problem("not_acceptable", "only a prompt has a run of its own to stream");
  }
  const { uid, tenant } = session;
  const parts = await sentParts(sent, attachmentsOf(context, { tenant, uid }));
  const posted = await post(context, session, sent, parts);
  const headers = { ...replayedHeader(posted.replayed), ...runHeader(posted) };
  const { runId, n } = posted;
  if (context.form === "stream") {
    return { ...runStream(context, session, posted, sent.cursor), headers };
  }
  const accepted: Answer = { status: 202, headers, json: { inputId: posted.inputId, runId, n } };
  if (context.waitMs === 0 || runId === undefined) return accepted;
  const run = await waitForRun(context, session, runId);
  const waited = { ...headers, "preference-applied": `wait=${context.waitMs / 1_000}` };
  if (run.status === "finished") return { status: 200, headers: waited, json: run };
  return { ...accepted, headers: waited };
};

/** Takes back an input that still waits. */
export const takeBackInput: RouteWork = async (context) => {
  const session = sessionOf(context);
  const taken = await inboxOf(context, session).takeBack(context.params["inputId"] ?? "");
  if (!taken.accepted) throw problemOf(taken);
  context.runs.note(session, async () => taken.n);
  return { status: 204 };
};

/** Throws `read_only` for a sub-agent's session: its inputs come from the agent that calls it. */
export function refuseChild({ parent }: SessionRecord): void {
  if (parent === undefined) return;
  throw new Problem("read_only", "a sub-agent's session takes no inputs: send to its root");
}

/** Stores an input by the key of the request, within the limits of its session and its owner. */
export async function post(
  context: RouteContext,
  session: SessionRecord,
  { kind, options }: Pick<SentInput, "kind" | "options">,
  parts: readonly Part[],
): Promise<Posted> {
  const inbox = inboxOf(context, session);
  const send = { prompt: inbox.send, steer: inbox.steer, follow_up: inbox.followUp }[kind];
  const { key } = context;
  const refusal = await refusalOf(context, session);
  // A repeat is answered also while others are refused, and it adds nothing.
  if (refusal !== undefined && !(await isRepeat(context, session))) throw refusal;
  const posted: Posted | Refused = await send(parts, { key, options, trace: traceOf(context) });
  if (!posted.accepted) throw problemOf(posted);
  context.runs.wake(session, posted.n);
  return posted;
}

async function refusalOf(
  context: RouteContext,
  session: SessionRecord,
): Promise<Problem | undefined> {
  if (await queueIsFull(context, session)) return tooMany(context.limits.inputsPerSession);
  const overspent = await context.quotas.overspent(session.owner);
  return overspent && overspentProblem(overspent);
}

/** Whether an input with the request's key is stored already. The input's id follows from the key. */
export async function isRepeat(
  { store, key }: Pick<RouteContext, "store" | "key">,
  { uid }: Pick<SessionRecord, "uid">,
): Promise<boolean> {
  return key !== undefined && store.hasInput(uid, inputId(`input_${key}`));
}

/** The queue is read only if the session has work: without work nothing waits. */
async function queueIsFull(
  { store, limits }: RouteContext,
  { uid, sessionId, status }: SessionRecord,
): Promise<boolean> {
  if (status === "idle") return false;
  const { paged } = await readSession({ store, uid, sessionId });
  return paged.state.queue.length >= limits.inputsPerSession;
}

function tooMany(limit: number): Problem {
  const detail = `${limit} inputs wait in this session already: take some back, or wait`;
  return new Problem("quota_exceeded", detail, { policy: "inputsPerSession" });
}

function runHeader({ runId }: Posted): Readonly<Record<string, string>> {
  return runId === undefined ? {} : { "millrace-run": runId };
}

/**
 * The session in the answer to a prompt, up to the end of its run, then `finished`. A client that loses
 * the connection comes back to the session's events with the last id, or posts again with the same key.
 */
function runStream(
  context: RouteContext,
  session: SessionRecord,
  { runId, n, ...posted }: Posted,
  cursor: string | undefined,
): Answer {
  const until = runId === undefined ? undefined : { runId, inputId: posted.inputId, n };
  const from = cursorOf(context.header("last-event-id") ?? cursor);
  return sessionStream(context, session, { cursor: from, until });
}

/**
 * Stops a run, or takes back the prompt that would begin it. Resolved against the store, so a stop that
 * races the start of its run has exactly these two outcomes. One stop is stored for a run.
 */
export const abortRun: RouteWork = async (context) => {
  const session = sessionOf(context);
  const { runId, reason } = (context.body ?? {}) as AbortBody; // of the route's shape
  const { key } = context;
  const stopped = await inboxOf(context, session).abort({ runId, reason, key });
  if (!stopped.accepted) throw problemOf(stopped);
  if (stopped.runId === undefined) return { status: 200, json: {} };
  context.runs.note(session, () => context.store.head(session.uid));
  return { status: 202, json: { runId: stopped.runId } };
};

interface AbortBody {
  readonly runId?: string;
  readonly reason?: string;
}
