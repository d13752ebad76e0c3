import type { SessionRecord } from "@millrace/core/ports";
import { startOf } from "./encode/ends.ts";
import { snapshotOf } from "./encode/snapshot.ts";
import type { AgUiMessage } from "./encode/events.ts";
import { turnMessages } from "./encode/history.ts";
import type { RouteContext, RouteResponse, RouteWork } from "@millrace/server/dialect";
import { blobUrlOf } from "../shared/blob-url-of.ts";
import { readTurns } from "../shared/read-turns.ts";
import type { SessionRuns } from "../shared/session-runs.ts";
import { sessionOf } from "@millrace/server/dialect";
import { newestMessages } from "../shared/newest-messages.ts";
import type { RunBody } from "./body.ts";
import { askedRun, plainAnswer, runAnswer } from "./run-answer.ts";

/** Clients give up on an event above 10 MiB. What is older than this leaves room for is in the history alone. */
const snapshotLength = 8 * 1_024 * 1_024;

/** All messages of the session, then what is being written. With nothing on: the messages, and how it ended. */
export async function resumeRun(
  context: RouteContext,
  session: SessionRecord,
  runs: SessionRuns,
): Promise<RouteResponse> {
  const body = context.body as RunBody; // of the route's shape
  const { uid, sessionId } = session;
  const { state, run, next, ended } = runs;
  const options = { uid, sessionId, blobUrl: blobUrlOf(context, session) };
  const current = run ?? next ?? ended;
  const [before, after] = [new FittingMessages(), new FittingMessages()];
  // Of a run that has not begun, all is before it.
  let isAfter = current !== undefined && current !== next;
  for await (const turn of readTurns(context, session, runs)) {
    const isCurrent = turn.kind === "run" && turn.id === current?.runId;
    if (!isCurrent) (isAfter ? after : before).add(turnMessages(turn, options));
    isAfter &&= !isCurrent;
    if (before.isFull) break;
  }
  const isAligned = before.beginWith(body.messages);
  const around = { before: before.json(), after: after.json() };
  if (current === undefined) return messagesAnswer(body, around.before, around.after, isAligned);
  const { runId, head } = current;
  const begin = { kind: "anew", isAligned } as const;
  return runAnswer(context, session, { runId, head, live: state.head, begin, ...around });
}

/** The newest messages that fit into a snapshot, as JSON. */
class FittingMessages {
  readonly #newestFirst: { readonly id: string; readonly text: string }[] = [];
  #room = snapshotLength;

  /** Whether older ones are left out. */
  get isFull(): boolean {
    return this.#room < 0;
  }

  /** Takes those that come before all that were added. */
  add(messages: readonly AgUiMessage[]): void {
    for (const message of messages.toReversed()) {
      const text = JSON.stringify(message);
      if (!this.isFull) this.#room -= text.length + 1;
      if (!this.isFull) this.#newestFirst.push({ id: message.id, text });
    }
  }

  /**
   * Whether the session begins with the messages that a page sends: then they are in order there. If older ones
   * are left out, this is not known of a page that has any.
   */
  beginWith(sent: readonly { readonly id: string }[]): boolean {
    if (this.isFull) return sent.length === 0;
    return sent.every(({ id }, at) => this.#newestFirst.at(-1 - at)?.id === id);
  }

  json(): string {
    return this.#newestFirst
      .map(({ text }) => text)
      .toReversed()
      .join(",");
  }
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

/** The session as messages, the newest of them, to begin a page with. */
export const readMessages: RouteWork = async (context) => {
  const session = sessionOf(context);
  const { uid, sessionId } = session;
  const options = { uid, sessionId, blobUrl: blobUrlOf(context, session) };
  const page = await newestMessages(context, (turn) => turnMessages(turn, options));
  return { status: 200, json: page };
};
