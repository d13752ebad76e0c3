import type { JsonObject } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import { completionStream, CompletionEncoder } from "./encode/completion-encoder.ts";
import type { SegmentRef } from "./encode/response-id.ts";
import type { RouteResponse, RouteContext, RouteWork } from "@millrace/server/dialect";
import { notFound, Problem } from "@millrace/server/dialect";
import { responseFormat } from "./answer-format.ts";
import { begin } from "./begin.ts";
import type { RequestTarget } from "./begin.ts";
import { completionFields, refuseUntaken } from "./refuse-fields.ts";
import { stopIfLeft } from "./stop-if-left.ts";
import { newMessages } from "./messages.ts";
import type { NewMessages } from "./messages.ts";
import { readSegment } from "./read-segment.ts";
import { refused } from "./refused.ts";
import type { Keyed } from "./refused.ts";
import { endedSegment, segmentHeaders, segmentStream, storedStream } from "./respond.ts";
import { namedSession, newSession } from "./session.ts";

const taken = ["messages", "stream", "stream_options", "response_format"];

/** The last messages to the agent, or outputs of the client's tools; then the completion. */
export const complete: RouteWork = async (context) => {
  const body = context.body as JsonObject; // of the route's shape
  refuseUntaken(body, taken, completionFields);
  const usage = includesUsage(body["stream_options"]);
  const format = responseFormat(body["response_format"]);
  const sent = newMessages(body["messages"] as readonly JsonObject[]); // of the route's shape
  const keyed = { ...context, key: context.key ?? context.uniqueName() };
  const { place, isNew } = await placeOf(keyed, sent);
  const ref = await begin(keyed, place, sent, { format });
  return give(context, place, ref, { usage, isNew });
};

function includesUsage(options: JsonObject[string] | undefined): boolean {
  if (options === undefined || options === null) return false;
  const { include_usage: usage = false, ...others } = isJsonObject(options) ? options : { "": 1 };
  const isPlain = Object.entries(others).every(
    ([name, value]) => name === "include_obfuscation" && value === false,
  );
  if (typeof usage === "boolean" && isPlain) return usage;
  throw refused("stream_options has include_usage, and no more", "/stream_options");
}

/** Where a request goes, and whether a session was made for it alone. */
async function placeOf(
  context: Keyed,
  { segment, hasPast }: NewMessages,
): Promise<{ readonly place: RequestTarget; readonly isNew: boolean }> {
  const named = await namedSession(context, undefined);
  if (segment !== undefined) {
    const session = await context.open(segment.sessionId, "send");
    const previous = session && (await readSegment(context, session, segment));
    if (session === undefined || previous === undefined) throw notFound();
    if (named !== undefined && named.uid !== session.uid)
      throw refused("the tool messages answer calls of another session", "/messages");
    return { place: { session, previous }, isNew: false };
  }
  if (named !== undefined) return { place: { session: named }, isNew: false };
  if (hasPast) {
    const fix = "name its session by the header Millrace-Session, or send only what is new";
    throw refused(`what was said before is stored, and is not read here: ${fix}`, "/messages");
  }
  return { place: { session: await newSession(context) }, isNew: true };
}

/** The completion in the form that its request asks for. */
async function give(
  context: RouteContext,
  { session }: RequestTarget,
  ref: SegmentRef,
  { usage, isNew }: { readonly usage: boolean; readonly isNew: boolean },
): Promise<RouteResponse> {
  const isStream = context.form === "stream";
  const read = isStream
    ? await readSegment(context, session, ref)
    : await endedSegment(context, session, ref);
  if (read === undefined) throw new Problem("internal", "the completion was not stored");
  const encoder = new CompletionEncoder({ ...read, usage });
  const stop = (): void => stopIfLeft(context, session, ref);
  if (!isStream) {
    if (isNew && !encoder.isOver()) stop();
    const answer = whole(encoder);
    return { ...answer, headers: { ...segmentHeaders(read), ...answer.headers } };
  }
  if (encoder.isOver()) return storedStream(read, encoder.endText("finished"));
  const answer = segmentStream(context, session, read, completionStream({ ...read, usage }));
  const { stream } = answer;
  if (!isNew || stream === undefined) return answer;
  const start: typeof stream.start = (sink) => {
    const handle = stream.start(sink);
    void handle.ended.then(stop, stop);
    return handle;
  };
  return { ...answer, stream: { ...stream, start } };
}

/** A completion that is over, or why there is none. */
function whole(encoder: CompletionEncoder): RouteResponse {
  const { end } = encoder;
  if (end?.error === null) return { status: 200, json: encoder.json() };
  const { code, message } = end?.error ?? {
    code: "unfinished",
    message: "The run goes on, and its completion is not there yet.",
  };
  const error = { message, type: "server_error", code, param: null };
  // A repeat would begin another run.
  return { status: 500, headers: { "x-should-retry": "false" }, json: { error } };
}
