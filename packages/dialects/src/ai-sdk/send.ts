import type { Part } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { idTail, runIdOf } from "@millrace/core/writing";
import { messageField } from "./encode/history.ts";
import { holdsMore, receivedUpTo } from "./encode/received-up-to.ts";
import { begunAgain } from "./encode/run-encoder.ts";
import type { Profile } from "./encode/profiles.ts";
import { doneEvent, eventOf } from "./encode/chunks.ts";
import type { RouteResponse, RouteContext, RouteWork } from "@millrace/server/dialect";
import { post, Problem, refuseChild } from "@millrace/server/dialect";
import { postAnswers } from "../shared/answers.ts";
import { keyOf } from "../shared/key-of.ts";
import { openOrMake } from "../shared/open-or-make.ts";
import { readSessionRuns } from "../shared/session-runs.ts";
import type { SessionRuns } from "../shared/session-runs.ts";
import { promptOf, pageAnswersOf } from "./body.ts";
import type { SendBody, SentMessage } from "./body.ts";
import { storedParts } from "./parts.ts";
import { runAnswer, streamHeaders } from "./run-answer.ts";

/**
 * The requests of `DefaultChatTransport`: a person's message, another reply to the last one, or answers to
 * questions and calls. Of the messages that the page holds only the last ones are read: the store has the past.
 */
export function sendMessages(profile: Profile): RouteWork {
  return async (context) => {
    const body = context.body as SendBody; // of the route's shape
    const session = await openOrMake(context, body.id);
    refuseChild(session);
    const runs = await readSessionRuns(context, session);
    if (body.trigger === "regenerate-message") return askAgain(profile, context, session, runs);
    const isNews = await postAnswers(context, session, runs, pageAnswersOf(body.messages));
    const prompt = promptOf(body.messages);
    if (prompt !== undefined) return send(profile, context, session, runs, prompt);
    return goOn(profile, context, session, runs, isNews);
  };
}

/** A person's message. Its id is its key; one that was edited is another message. */
async function send(
  profile: Profile,
  context: RouteContext,
  session: SessionRecord,
  { state }: SessionRuns,
  message: SentMessage,
): Promise<RouteResponse> {
  const body = context.body as SendBody; // of the route's shape
  const { tenant, uid } = session;
  const pointer = `/messages/${body.messages.length - 1}`;
  const parts = await storedParts(context, { tenant, uid }, message, pointer);
  const isEdited = body.messageId === message.id;
  const key = keyOf("message", message.id, ...(isEdited ? [JSON.stringify(message.parts)] : []));
  const { kind = "prompt" } = body;
  // Between runs there is nothing to steer: it begins one.
  const isForRun = kind !== "prompt" && state.run !== undefined;
  const asked = { kind: isForRun ? kind : "prompt" } as const;
  const posted = await post({ ...context, key }, session, asked, parts);
  if (posted.runId !== undefined)
    return runAnswer(profile, context, session, {
      runId: posted.runId,
      head: posted.n - 1,
      live: state.head,
    });
  // The run that takes it up shows it, in the stream that it has.
  return { status: 200, headers: streamHeaders, bytes: Buffer.from(doneEvent) };
}

/** The prompt of a run again. The first reply stays in the session: nothing that was written is undone. */
async function askAgain(
  profile: Profile,
  context: RouteContext,
  session: SessionRecord,
  { state, ended, run }: SessionRuns,
): Promise<RouteResponse> {
  const { messageId } = context.body as SendBody; // of the route's shape
  const runId = messageId?.startsWith("run_") === true ? messageId : (run ?? ended)?.runId;
  const items = state.items.toArray();
  const prompt =
    items.find(({ id }) => runId !== undefined && id === `item_${idTail(runId)}`) ??
    items.findLast(({ author }) => author === "user");
  if (runId === undefined || prompt === undefined)
    throw new Problem("invalid_request", "there is no reply that could be given again");
  const key = keyOf("regenerate", runId);
  const parts = prompt.parts.map(withoutName);
  const { inputId, n } = await post({ ...context, key }, session, { kind: "prompt" }, parts);
  return runAnswer(profile, context, session, {
    runId: runIdOf(inputId),
    head: n - 1,
    live: state.head,
  });
}

/** The run that waited for the answers of this request, from where the page stands. */
function goOn(
  profile: Profile,
  context: RouteContext,
  session: SessionRecord,
  { run: on, ended, isWaiting, state }: SessionRuns,
  isNews: boolean,
): RouteResponse {
  const current = on ?? ended;
  if (current === undefined)
    throw new Problem("invalid_request", "the last message is the assistant's, and nothing waits");
  const { messages } = context.body as SendBody; // of the route's shape
  const { waits, facts, ...run } = current;
  const { id, parts = [] } = messages.findLast(({ role }) => role === "assistant") ?? {};
  const at = receivedUpTo(waits, parts);
  if (id === run.runId && holdsMore(facts, at, parts)) {
    const text = eventOf({ type: "error", errorText: begunAgain }) + doneEvent;
    return { status: 200, headers: streamHeaders, bytes: Buffer.from(text) };
  }
  // What waits still is sent again, so that the page's request ends.
  const receivedTo = isWaiting && !isNews && at === state.head ? at - 1 : at;
  return runAnswer(profile, context, session, { ...run, receivedTo, live: state.head });
}

/** A part without the name of the message that it was sent in: a page knows a message by that. */
function withoutName(part: Part): Part {
  if (part.kind === "opaque" || part.metadata === undefined) return part;
  const { [messageField]: _, ...metadata } = part.metadata;
  const { metadata: __, ...bare } = part;
  return Object.keys(metadata).length === 0 ? bare : { ...bare, metadata };
}
