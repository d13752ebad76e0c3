import type { SessionRecord } from "@millrace/core/ports";
import { startOf } from "./encode/ends.ts";
import { snapshotOf } from "./encode/snapshot.ts";
import type { AgUiMessage } from "./encode/events.ts";
import { historyAround, historyOf } from "./encode/history.ts";
import type { RouteResponse, RouteContext, RouteWork } from "@millrace/server/dialect";
import { blobUrlOf } from "../shared/blob-url-of.ts";
import type { Standing } from "../shared/standing.ts";
import { sessionOf } from "@millrace/server/dialect";
import { newestMessages } from "../shared/newest-messages.ts";
import type { RunBody } from "./body.ts";
import { askedRun, plainAnswer, runAnswer } from "./run-answer.ts";

/** Clients give up on an event above 10 MiB. What is older than this leaves room for is in the history alone. */
const snapshotLength = 8 * 1_024 * 1_024;

/** All messages of the session, then what is being written. With nothing on: the messages, and how it ended. */
export async function comeBack(
  context: RouteContext,
  session: SessionRecord,
  { state, run, next, ended }: Standing,
): Promise<RouteResponse> {
  const body = context.body as RunBody; // of the route's shape
  const { uid, sessionId } = session;
  const facts = (await context.store.read(uid)).filter(({ n }) => n <= state.head);
  const shown = run ?? next ?? ended;
  const blobUrl = blobUrlOf(context, session);
  const around = historyAround(facts, shown?.runId, { uid, sessionId, blobUrl });
  const isAligned = isBeginning(body.messages, around.before);
  const [before, after] = [fitting(around.before), fitting(around.after)];
  if (shown !== undefined) {
    const { runId, head } = shown;
    const begin = { kind: "anew", isAligned } as const;
    return runAnswer(context, session, { runId, head, live: state.head, begin, before, after });
  }
  return messagesAnswer(body, before, after, isAligned);
}

/** A conversation that was not begun. */
export function nothingYet(body: RunBody): RouteResponse {
  return messagesAnswer(body, "", "", body.messages.length === 0);
}

/** Messages without a run. */
function messagesAnswer(
  body: RunBody,
  before: string,
  after: string,
  isAligned: boolean,
): RouteResponse {
  const { threadId, runId } = body;
  const asked = askedRun(body);
  const { isVersion1 } = asked;
  const messages = { before, messages: [], after, isAnew: !isAligned, isVersion1 };
  const end = { type: "RUN_FINISHED", threadId, runId } as const;
  return plainAnswer([startOf(asked), ...snapshotOf(messages), end]);
}

/** Whether what a page holds is where the messages begin: then they come in their order. */
function isBeginning(
  held: readonly { readonly id: string }[],
  messages: readonly AgUiMessage[],
): boolean {
  return held.every(({ id }, at) => messages[at]?.id === id);
}

/** The newest messages that fit into a snapshot, as JSON. */
function fitting(messages: readonly AgUiMessage[]): string {
  const texts: string[] = [];
  let room = snapshotLength;
  for (const message of messages.toReversed()) {
    const text = JSON.stringify(message);
    room -= text.length + 1;
    if (room < 0) break;
    texts.unshift(text);
  }
  return texts.join(",");
}

/** The session as messages, the newest of them, to begin a page with. */
export const readMessages: RouteWork = async (context) => {
  const session = sessionOf(context);
  const { uid, sessionId } = session;
  const facts = await context.store.read(uid);
  const blobUrl = blobUrlOf(context, session);
  const all = historyOf(facts, { uid, sessionId, blobUrl });
  return { status: 200, json: newestMessages(all, context) };
};
