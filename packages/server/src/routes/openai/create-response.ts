import { randomUUID } from "node:crypto";
import type { Json, JsonObject, Part } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import type { SessionRecord } from "@millrace/core/ports";
import type { Leg } from "../../dialects/openai/leg.ts";
import { askedIn } from "../../dialects/openai/leg.ts";

import type { LegRef } from "../../dialects/openai/response-id.ts";
import { requestField } from "../../dialects/openai/response-json.ts";
import { ResponseVoice } from "../../dialects/openai/response-voice.ts";
import type { Answer } from "../../http/answer.ts";
import { Problem } from "../../http/problem.ts";
import type { RouteContext, RouteWork } from "../../http/route-context.ts";
import { postAnswers } from "../ai-sdk/answers.ts";
import type { Reply } from "../ai-sdk/body.ts";
import { standingOf } from "../ai-sdk/standing.ts";
import type { Standing } from "../ai-sdk/standing.ts";
import { post, refuseChild } from "../post-input.ts";
import { refuseUntaken, responseFields } from "./given.ts";
import { readInput } from "./input.ts";
import { openResponse, readLeg } from "./read-leg.ts";
import type { ReadLeg } from "./read-leg.ts";
import { endedLeg, legHeaders, responseEvents } from "./respond.ts";
import { namedSession, newSession } from "./session.ts";
import { storedParts } from "./stored-parts.ts";

const taken = ["input", "stream", "background", "previous_response_id", "conversation", "metadata"];

/** A message to the agent, or answers to what its run waits for; then the response, in the form that was asked for. */
export const createResponse: RouteWork = async (context) => {
  const body = context.body as JsonObject; // of the route's shape
  refuseUntaken(body, taken, responseFields);
  const sent = readInput(body["input"]);
  const key = context.key ?? randomUUID();
  const keyed = { ...context, key };
  const place = await placeOf(keyed, body);
  const { session } = place;
  refuseChild(session);
  const standing = await standingOf(context, session);
  const ref =
    sent.replies.length > 0
      ? await answer(keyed, place, standing, sent)
      : await prompt(keyed, place, standing, sent);
  return give(context, session, ref, body);
};

/** Where a request goes: its session, and the response that it goes on from. */
interface Place {
  readonly session: SessionRecord;
  readonly previous: ReadLeg | undefined;
}

async function placeOf(
  context: RouteContext & { readonly key: string },
  body: JsonObject,
): Promise<Place> {
  const { previous_response_id: id, conversation } = body;
  const named = await namedSession(context, conversation);
  if (id === undefined || id === null)
    return { session: named ?? (await newSession(context)), previous: undefined };
  if (typeof id !== "string")
    throw refused("previous_response_id is an id", "/previous_response_id");
  const { session, ...previous } = await openResponse(context, id, "send");
  if (named !== undefined && named.uid !== session.uid)
    throw refused("this response is of another conversation: name one of them", "/conversation");
  return { session, previous };
}

/** A message begins a run. Its response is the run's first leg. */
async function prompt(
  context: RouteContext & { readonly key: string },
  { session, previous }: Place,
  standing: Standing,
  { parts }: ReturnType<typeof readInput>,
): Promise<LegRef> {
  const { store, key } = context;
  const body = context.body as JsonObject; // of the route's shape
  const { sessionId } = session;
  const known = await readLeg({ store }, session, { runId: `run_${key}`, from: 0 });
  if (known === undefined) refuseUnanswered(standing, []);
  if (known === undefined && previous !== undefined) refusePast(standing, previous);
  const stored = await storedParts(context, session, parts);
  const request = requestOf(body);
  const posted = await post(context, session, { kind: "prompt" }, withRequest(stored, request));
  return { sessionId, runId: posted.runId ?? `run_${key}`, from: 0 };
}

/** What the request says besides its input, to be kept with it. */
function requestOf({
  metadata,
  background,
  previous_response_id: previous,
}: JsonObject): JsonObject {
  if (metadata !== undefined && metadata !== null && !isStringMap(metadata))
    throw refused("metadata has up to 16 texts", "/metadata");
  return {
    ...(isJsonObject(metadata) ? { metadata } : {}),
    ...(background === true ? { background } : {}),
    ...(typeof previous === "string" ? { previous } : {}),
  };
}

function isStringMap(value: Json): boolean {
  if (!isJsonObject(value) || Object.keys(value).length > 16) return false;
  return Object.entries(value).every(
    ([name, text]) => name.length <= 64 && typeof text === "string" && text.length <= 512,
  );
}

function withRequest(parts: readonly Part[], request: JsonObject): readonly Part[] {
  if (Object.keys(request).length === 0) return parts;
  const [first, ...others] = parts;
  if (first === undefined || first.kind === "opaque") return parts;
  return [{ ...first, metadata: { ...first.metadata, [requestField]: request } }, ...others];
}

/** Answers what a run waits for. Its response is the run's next leg. */
async function answer(
  context: RouteContext & { readonly key: string },
  { session, previous }: Place,
  standing: Standing,
  { parts, replies }: ReturnType<typeof readInput>,
): Promise<LegRef> {
  const { key } = context;
  const { sessionId } = session;
  const { metadata } = context.body as JsonObject; // of the route's shape
  if (isJsonObject(metadata) && Object.keys(metadata).length > 0)
    throw refused("metadata goes with a message, not with answers: leave it out", "/metadata");
  const runId = previous?.leg.runId ?? (standing.run ?? standing.ended)?.runId ?? "";
  const legs = (previous ?? (await readLeg(context, session, { runId, from: 0 })))?.legs ?? [];
  const leg = askedBy(legs, replies, previous?.leg.from);
  refuseUnanswered(standing, replies);
  if (parts.length > 0) {
    const stored = await storedParts(context, session, parts);
    await post({ ...context, key }, session, { kind: "steer" }, stored);
  }
  await postAnswers(context, session, standing, replies);
  return { sessionId, runId, from: leg.to };
}

/** The leg that asked what is answered. Throws for an answer to nothing. */
function askedBy(
  legs: readonly Leg[],
  replies: readonly Reply[],
  from: number | undefined,
): Leg & { readonly to: number } {
  const [first] = replies;
  const among = from === undefined ? legs : legs.filter((each) => each.from === from);
  const leg = among.findLast(({ asked }) => first !== undefined && asked.includes(idOf(first)));
  const stray = replies.find((reply) => leg?.asked.includes(idOf(reply)) !== true);
  if (leg?.to !== undefined && stray === undefined) return { ...leg, to: leg.to };
  const what = idOf(stray ?? first ?? ({} as Reply));
  throw refused(`nothing waits for an answer to ${what?.slice(0, 64)}`, "/input");
}

function idOf(reply: Reply): string {
  return reply.kind === "output" ? reply.toolCallId : reply.approvalId;
}

/** Throws while a run waits for more than a request answers: nothing would go on. */
function refuseUnanswered({ isWaiting, state }: Standing, replies: readonly Reply[]): void {
  if (!isWaiting) return;
  const answered = new Set(replies.map(idOf));
  const lacking = askedIn(state).find((id) => !answered.has(id));
  if (lacking === undefined) return;
  const isCall = state.executions.some(({ callId }) => callId === lacking);
  const fix = isCall
    ? `No tool output found for function call ${lacking}: send a function_call_output`
    : `No decision found for ${lacking}: send an mcp_approval_response`;
  throw refused(fix, "/input");
}

/** Throws for a response that is not the last one of its session. */
function refusePast({ run, ended, next }: Standing, { leg, legs }: ReadLeg): void {
  const last = next ?? run ?? ended;
  const pointer = "/previous_response_id";
  if (run?.runId === leg.runId)
    throw refused("this response is not over: wait for it, or cancel it", pointer);
  if (last?.runId === leg.runId && legs.at(-1)?.from === leg.from) return;
  const fix = "go on with the newest, or fork the session by /v1/sessions/{id}/forks";
  throw refused(`this response is not the newest of its session: ${fix}`, pointer);
}

/** The response in the form that its request asks for. */
async function give(
  context: RouteContext,
  session: SessionRecord,
  ref: LegRef,
  { background }: JsonObject,
): Promise<Answer> {
  const atOnce = context.form === "stream" || background === true;
  const read = atOnce
    ? await readLeg(context, session, ref)
    : await endedLeg(context, session, ref);
  if (read === undefined) throw new Problem("internal", "the response was not stored");
  if (context.form === "stream") return responseEvents(context, session, read);
  return { status: 200, headers: legHeaders(read), json: new ResponseVoice(read).json() };
}

function refused(detail: string, pointer: string): Problem {
  return new Problem("invalid_request", detail, { pointer });
}
