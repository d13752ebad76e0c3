import type { JsonObject } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import type { SessionRecord } from "@millrace/core/ports";
import type { SegmentRef } from "./encode/response-id.ts";
import { ResponseEncoder } from "./encode/response-encoder.ts";
import type { RouteResponse, RouteContext, RouteWork } from "@millrace/server/dialect";
import { Problem } from "@millrace/server/dialect";
import { textFormat } from "./answer-format.ts";
import { begin, requestOf } from "./begin.ts";
import type { RequestTarget } from "./begin.ts";
import { refuseUntaken, responseFields } from "./refuse-fields.ts";
import { readInput } from "./input.ts";
import type { SentInput } from "./input.ts";
import { openResponse, readSegment } from "./read-segment.ts";
import { refused } from "./refused.ts";
import type { Keyed } from "./refused.ts";
import { endedSegment, segmentHeaders, responseEvents } from "./respond.ts";
import { namedSession, newSession } from "./session.ts";

const taken = [
  "input",
  "stream",
  "background",
  "previous_response_id",
  "conversation",
  "metadata",
  "text",
];

/** A message to the agent, or answers to what its run waits for; then the response, in the form that was asked for. */
export const createResponse: RouteWork = async (context) => {
  const body = context.body as JsonObject; // of the route's shape
  refuseUntaken(body, taken, responseFields);
  const sent = readInput(body["input"]);
  const request = requestOf(body);
  const format = textFormat(body["text"]);
  if (sent.pageAnswers.length > 0 && isJsonObject(request["metadata"]))
    throw refused("metadata goes with a message, not with answers: leave it out", "/metadata");
  const keyed = { ...context, key: context.key ?? context.uniqueName() };
  const place = await placeOf(keyed, body, sent);
  const ref = await begin(keyed, place, sent, { request, format });
  return give(context, place.session, ref, body);
};

async function placeOf(
  context: Keyed,
  body: JsonObject,
  { pageAnswers }: SentInput,
): Promise<RequestTarget> {
  const { previous_response_id: id, conversation } = body;
  const named = await namedSession(context, conversation);
  if (id === undefined || id === null) {
    if (named === undefined && pageAnswers.length > 0)
      throw refused("name the response that is answered by previous_response_id", "/input");
    return { session: named ?? (await newSession(context)) };
  }
  if (typeof id !== "string")
    throw refused("previous_response_id is an id", "/previous_response_id");
  const { session, ...previous } = await openResponse(context, id, "send");
  if (named !== undefined && named.uid !== session.uid)
    throw refused("this response is of another conversation: name one of them", "/conversation");
  return { session, previous };
}

/** The response in the form that its request asks for. */
async function give(
  context: RouteContext,
  session: SessionRecord,
  ref: SegmentRef,
  { background }: JsonObject,
): Promise<RouteResponse> {
  const atOnce = context.form === "stream" || background === true;
  const read = atOnce
    ? await readSegment(context, session, ref)
    : await endedSegment(context, session, ref);
  if (read === undefined) throw new Problem("internal", "the response was not stored");
  if (context.form === "stream") return responseEvents(context, session, read);
  return { status: 200, headers: segmentHeaders(read), json: new ResponseEncoder(read).json() };
}
