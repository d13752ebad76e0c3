import type { Json } from "@millrace/core";
import { Problem } from "../http/problem.ts";
import type { RouteWork } from "../http/route-context.ts";
import { inboxOf, replayedHeader, sessionOf } from "./common.ts";
import { problemOf } from "./refusals.ts";

/** The longest answer of a client's tool. */
const answerBytes = 2 * 1_024 * 1_024;

/** Answers a call that a client carries out, once. Its driver checks the shape. */
export const answerCall: RouteWork = async (context) => {
  const session = sessionOf(context);
  const { callId, itemId, ...answer } = context.body as AnswerBody; // of the route's shape
  const size = Buffer.byteLength(JSON.stringify(answer));
  if (size > answerBytes) {
    const detail = `an answer has at most ${answerBytes} bytes, not ${size}`;
    throw new Problem("too_large", detail, { limit: answerBytes });
  }
  const given =
    answer.error === undefined ? { output: answer.output ?? null } : { error: answer.error };
  const posted = await inboxOf(context, session).answer({ callId, itemId }, given);
  if (!posted.accepted) throw problemOf(posted);
  const headers = replayedHeader(posted.replayed);
  context.runs.wake(session, posted.n);
  return { status: 202, headers, json: { inputId: posted.inputId } };
};

interface AnswerBody {
  readonly callId: string;
  readonly itemId?: string;
  readonly output?: Json;
  readonly error?: string;
}
