import type { Json } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { clientCalls, startOf } from "./encode/ends.ts";
import { jsonOf } from "./encode/events.ts";
import { hasMessages } from "./encode/page-messages.ts";
import { runMessages } from "./encode/messages.ts";
import { recordOf } from "../shared/encode/run-record.ts";
import type { RouteResponse, RouteContext, RouteWork } from "@millrace/server/dialect";
import { notFound, post, Problem, refuseChild, untilGrid } from "@millrace/server/dialect";
import { postAnswers } from "../shared/answers.ts";
import { keyOf } from "../shared/key-of.ts";
import type { PageAnswer } from "../shared/page-answer.ts";
import { blobUrlOf } from "../shared/blob-url-of.ts";
import { openOrMake } from "../shared/open-or-make.ts";
import { readSessionRuns } from "../shared/session-runs.ts";
import type { SessionRuns } from "../shared/session-runs.ts";
import { kindOf, refuseUnknownTools, pageAnswersOf, lastUserMessages } from "./body.ts";
import type { RunBody, InputKind, NewMessage } from "./body.ts";
import { resumeRun, nothingYet } from "./resume-run.ts";
import { newMessages } from "./new-messages.ts";
import { storedParts } from "./parts.ts";
import { askedRun, plainAnswer, runAnswer } from "./run-answer.ts";

/**
 * The request of `HttpAgent`: messages of people that are new, or answers to questions and calls, or neither, by
 * which a page comes back to the run that is on. Nothing else of what the page holds is read: the store has the
 * past.
 */
export const runAgent: RouteWork = async (context) => {
  const body = context.body as RunBody; // of the route's shape
  const kind = kindOf(body);
  const messages = lastUserMessages(body.messages);
  const pageAnswers = pageAnswersOf(body);
  const session = await sessionFor(context, body, messages.length > 0);
  if (session === undefined) return nothingYet(body);
  if ((body.tools ?? []).length > 0) refuseUnknownTools(body, await context.clientTools(session));
  const runs = await readSessionRuns(context, session);
  const added = newMessages(messages, runs.state);
  refuseUnasked(pageAnswers, runs);
  const isNews = await postAnswers(context, session, runs, answersTo(runs, pageAnswers));
  if (added.length > 0) return send(context, session, runs, added, kind);
  const going = isNews ? await goOn(context, session, runs, pageAnswers) : undefined;
  return (
    going ?? resumeRun(context, session, isNews ? await readSessionRuns(context, session) : runs)
  );
};

/**
 * The session of the thread. A page names it before it is there, so its first message makes it. Undefined: a page
 * that only comes back finds none. One that is another's is as good as none.
 */
async function sessionFor(
  context: RouteContext,
  { threadId, resume = [] }: RunBody,
  isSaying: boolean,
): Promise<SessionRecord | undefined> {
  const { clock } = context;
  const begun = clock.monotonic();
  const session = isSaying
    ? await openOrMake(context, threadId)
    : await context.open(threadId, "read");
  if (session !== undefined) {
    if (isSaying || resume.length > 0) refuseChild(session);
    return session;
  }
  if (resume.length > 0) throw notFound();
  await context.quotas.missed();
  await untilGrid(() => clock.monotonic() - begun, clock.sleep);
  return undefined;
}

/** Throws for an answer to what the run that is on, and the one before it, never asked. */
function refuseUnasked(
  pageAnswers: readonly PageAnswer[],
  { state, run, ended }: SessionRuns,
): void {
  const asked = new Set<string>(state.approvals.map((approval) => approval.asked.approvalId));
  for (const { waits } of [run, ended].filter((each) => each !== undefined))
    for (const wait of waits) for (const id of wait.asked) asked.add(id);
  const decisions = pageAnswers.filter((reply) => reply.kind === "decision");
  const at = decisions.findIndex(({ approvalId }) => !asked.has(approvalId));
  if (at < 0) return;
  const detail = "there is no question of this id in the session's last runs";
  throw new Problem("invalid_request", detail, { pointer: `/resume/${at}/interruptId` });
}

/** What people wrote. The ids of their messages are its key, so the same request sent twice is one. */
async function send(
  context: RouteContext,
  session: SessionRecord,
  { state }: SessionRuns,
  messages: readonly NewMessage[],
  kind: InputKind,
): Promise<RouteResponse> {
  const body = context.body as RunBody; // of the route's shape
  const { tenant, uid } = session;
  const parts = await storedParts(context, { tenant, uid }, messages);
  const key = keyOf("ag-ui", ...messages.map(({ message }) => message.id));
  // Between runs there is nothing to steer: it begins one.
  const isForRun = kind !== "prompt" && state.run !== undefined;
  const asked = { kind: isForRun ? kind : "prompt" } as const;
  const { runId, n } = await post({ ...context, key }, session, asked, parts);
  if (runId !== undefined)
    return runAnswer(context, session, {
      runId,
      head: n - 1,
      live: state.head,
      begin: { kind: "start" },
      before: jsonOf(body.messages),
      after: "",
    });
  // The run that takes it up shows it, in the stream that it has.
  const named = askedRun(body);
  const { threadId } = body;
  return plainAnswer([startOf(named), { type: "RUN_FINISHED", threadId, runId: body.runId }]);
}

/** The run that waited for the answers of this request, if the page holds it so far. */
async function goOn(
  context: RouteContext,
  session: SessionRecord,
  { state: before, run }: SessionRuns,
  pageAnswers: readonly PageAnswer[],
): Promise<RouteResponse | undefined> {
  if (run === undefined) return undefined;
  const body = context.body as RunBody; // of the route's shape
  const { runId, head, facts } = run;
  const record = recordOf(session, facts);
  const sent = runMessages(record, blobUrlOf(context, session));
  if (record.phase !== "waiting" || !hasMessages(body.messages, sent)) return undefined;
  const own = body.messages.findIndex(({ id }) => id === sent[0]?.id);
  const results = new Map<string, Json>();
  for (const reply of pageAnswers)
    if (reply.kind === "output" && "output" in reply.answer)
      results.set(reply.toolCallId, reply.answer.output);
  // A wait that ends by one of several answers is past once all are there.
  const { state } = await readSessionRuns(context, session);
  return runAnswer(context, session, {
    runId,
    head,
    live: state.head,
    begin: { kind: "received", n: before.head },
    before: jsonOf(body.messages.slice(0, Math.max(0, own))),
    after: "",
    results,
  });
}

/** The answers to what waits, with the calls by their own ids: pages know them by other names. */
function answersTo(
  { state }: SessionRuns,
  pageAnswers: readonly PageAnswer[],
): readonly PageAnswer[] {
  const calls = clientCalls(state);
  return pageAnswers.flatMap((reply): PageAnswer[] => {
    if (reply.kind === "decision") return [reply];
    const toolCallId = calls.get(reply.toolCallId);
    return toolCallId === undefined ? [] : [{ ...reply, toolCallId }];
  });
}
