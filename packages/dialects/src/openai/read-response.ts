import type { Fact, JsonObject, Part } from "@millrace/core";
import { encodeBase64 } from "@millrace/core/wire";
import { ResponseEncoder } from "./encode/response-encoder.ts";
import { modelName } from "./encode/response-json.ts";
import type { RouteContext, RouteWork } from "@millrace/server/dialect";
import { blobUrlOf } from "../shared/blob-url-of.ts";
import { inboxOf, problemOf } from "@millrace/server/dialect";
import { openResponse } from "./read-segment.ts";
import type { NamedResponse } from "./read-segment.ts";
import { endedSegment, segmentHeaders, responseEvents } from "./respond.ts";

/** A response as it is, or its events after a number. */
export const getResponse: RouteWork = async (context) => {
  const { session, ...read } = await openResponse(context, idOf(context), "read");
  const { starting_after: after } = context.query;
  if (context.form === "stream")
    return responseEvents(context, session, read, typeof after === "number" ? after : undefined);
  return { status: 200, headers: segmentHeaders(read), json: new ResponseEncoder(read).json() };
};

/**
 * Stops the run of a response, or takes back its prompt. A response that is over stays as it is; the run that
 * waits at its end is stopped.
 */
export const cancelResponse: RouteWork = async (context) => {
  const { session, ...read } = await openResponse(context, idOf(context), "stop");
  const { runId, from } = read.segment;
  const isLast = read.segments.at(-1)?.from === from;
  if (isLast) {
    const stopped = await inboxOf(context, session).abort({ runId });
    if (!stopped.accepted) throw problemOf(stopped);
    if (stopped.runId !== undefined)
      context.runs.note(session, () => context.store.head(session.uid));
  }
  const ended = await endedSegment(context, session, { runId, from }, context.limits.waitMs);
  return { status: 200, headers: segmentHeaders(ended), json: new ResponseEncoder(ended).json() };
};

/** What a response was given: the message that began it, or the answers. */
export const listInputItems: RouteWork = async (context) => {
  const response = await openResponse(context, idOf(context), "read");
  const { limit = 20, order = "desc", after } = context.query as ItemsQuery; // of the route's shape
  const all = inputItems(response, (hash) => blobUrlOf(context, response.session)(hash));
  const ordered = order === "asc" ? all : all.toReversed();
  const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const data = ordered.slice(start, start + limit);
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  const isMore = start + limit < ordered.length;
  return { status: 200, json: { object: "list", data, ...ends, has_more: isMore } };
};

interface ItemsQuery {
  readonly limit?: number;
  readonly order?: "asc" | "desc";
  readonly after?: string;
}

/** The agent as a model. */
export const listModels: RouteWork = async () => {
  const model = { id: modelName, object: "model", created: 0, owned_by: "millrace" };
  return { status: 200, json: { object: "list", data: [model] } };
};

function idOf({ params }: RouteContext): string {
  return params["response"] ?? "";
}

type InputItem = JsonObject & { readonly id: string };

function inputItems(
  { facts, segment, segments }: NamedResponse,
  urlOf: (hash: string) => string,
): readonly InputItem[] {
  const { to = Infinity } = segments.find(({ from }) => from === segment.from) ?? {};
  const asked = new Set<unknown>(segments.find((each) => each.to === segment.from)?.asked);
  const isGiven = (fact: Fact): boolean => {
    if (fact.n <= segment.from || fact.n > to) return false;
    if (fact.type === "approval_resolved") return asked.has(fact.approvalId);
    if (fact.type !== "input_accepted") return false;
    const { input } = fact;
    if (input.kind === "answer") return asked.has(input.callId);
    // Other prompts wait for their own runs.
    return input.kind === "prompt" ? fact.n === segment.head + 1 : true;
  };
  return facts.filter(isGiven).flatMap((fact) => inputItem(fact, urlOf));
}

function inputItem(fact: Fact, urlOf: (hash: string) => string): InputItem[] {
  if (fact.type === "approval_resolved") {
    const { approvalId, decision, reason = null } = fact;
    const type = "mcp_approval_response";
    const approve = decision === "allow";
    return [{ id: `mcpr_${fact.n}`, type, approval_request_id: approvalId, approve, reason }];
  }
  if (fact.type !== "input_accepted") return [];
  const { input, inputId } = fact;
  if (input.kind === "abort") return [];
  if (input.kind !== "answer") {
    const content = input.parts.flatMap((part) => contentOf(part, urlOf));
    return [{ id: `msg_${inputId}`, type: "message", role: "user", status: "completed", content }];
  }
  const given = "output" in input ? input.output : input.error;
  const output = typeof given === "string" ? given : JSON.stringify(given);
  const { callId } = input;
  return [
    {
      id: `fco_${inputId}`,
      type: "function_call_output",
      call_id: callId,
      output,
      status: "completed",
    },
  ];
}

function contentOf(part: Part, urlOf: (hash: string) => string): JsonObject[] {
  if (part.kind === "text") return [{ type: "input_text", text: part.text }];
  if (part.kind !== "media" && part.kind !== "file") return [];
  const { mediaType, bytes, blob } = part;
  const url =
    part.url ??
    (blob === undefined
      ? `data:${mediaType};base64,${encodeBase64(bytes ?? new Uint8Array())}`
      : urlOf(blob.hash));
  if (part.kind === "media" && mediaType.startsWith("image/"))
    return [{ type: "input_image", image_url: url, detail: "auto" }];
  return [
    { type: "input_file", filename: part.kind === "file" ? part.name : "media", file_url: url },
  ];
}
