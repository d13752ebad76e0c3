import { equalJson } from "@millrace/core/json";
import type { Fact, Json, JsonObject, Part } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import type { SessionRecord } from "@millrace/core/ports";
import { askedIn } from "./encode/response-segment.ts";
import type { ResponseSegment } from "./encode/response-segment.ts";
import type { SegmentRef } from "./encode/response-id.ts";
import { requestField } from "./encode/response-json.ts";
import { postAnswers } from "../shared/answers.ts";
import type { PageAnswer } from "../shared/page-answer.ts";
import { readSessionRuns } from "../shared/session-runs.ts";
import type { SessionRuns } from "../shared/session-runs.ts";
import { isRepeat, post, refuseChild } from "@millrace/server/dialect";
import type { AnswerFormat } from "./answer-format.ts";
import type { SentInput } from "./input.ts";
import { readSegment } from "./read-segment.ts";
import type { ReadSegment } from "./read-segment.ts";
import { refused } from "./refused.ts";
import type { Keyed } from "./refused.ts";
import { storedParts } from "./stored-parts.ts";

/** Where a request goes: its session, and the response that it goes on from. */
export interface RequestTarget {
  readonly session: SessionRecord;
  readonly previous?: ReadSegment | undefined;
}

/** What a request says besides its input. */
export interface Besides {
  /** Kept with a prompt, to be shown in its response. */
  readonly request?: JsonObject | undefined;
  /** The form that the answer is to have. */
  readonly format?: AnswerFormat | undefined;
}

/** Stores the input of a request, and names the segment of a run that is its response. */
export async function begin(
  context: Keyed,
  place: RequestTarget,
  sent: SentInput,
  besides: Besides,
): Promise<SegmentRef> {
  refuseChild(place.session);
  const runs = await readSessionRuns(context, place.session);
  return sent.pageAnswers.length > 0
    ? answer(context, place, runs, sent, besides)
    : prompt(context, place, runs, sent, besides);
}

/** A message begins a run. Its response is the run's first segment. */
async function prompt(
  context: Keyed,
  { session, previous }: RequestTarget,
  runs: SessionRuns,
  { parts }: SentInput,
  { request = {}, format }: Besides,
): Promise<SegmentRef> {
  const { key } = context;
  const { sessionId } = session;
  try {
    refuseUnanswered(runs, []);
    if (previous !== undefined) refusePast(runs, previous);
  } catch (refusal) {
    // A repeat is answered also while others are refused.
    if (!(await isRepeat(context, session))) throw refusal;
  }
  const stored = await storedParts(context, session, parts);
  const asked =
    format === undefined
      ? { request, options: undefined }
      : { request: { ...request, format: format.format }, options: { output: format.schema } };
  const input = { kind: "prompt", options: asked.options } as const;
  const posted = await post(context, session, input, withRequest(stored, asked.request));
  return { sessionId, runId: posted.runId ?? `run_${key}`, from: 0 };
}

/** What a request for a response says besides its input, to be kept with it. Throws for what can't be. */
export function requestOf({
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

/** Answers what a run waits for. Its response is the run's next segment. */
async function answer(
  context: Keyed,
  { session, previous }: RequestTarget,
  runs: SessionRuns,
  { parts, pageAnswers }: SentInput,
  { format }: Besides,
): Promise<SegmentRef> {
  const { sessionId } = session;
  const runId = previous?.segment.runId ?? (runs.run ?? runs.ended)?.runId ?? "";
  const run = previous ?? (await readSegment(context, session, { runId, from: 0 }));
  const segments = run?.segments ?? [];
  refuseOtherFormat(run?.facts ?? [], format);
  const segment = askedBy(segments, pageAnswers, previous?.segment.from);
  refuseUnanswered(runs, pageAnswers);
  if (parts.length > 0) {
    const stored = await storedParts(context, session, parts);
    await post(context, session, { kind: "steer" }, stored);
  }
  await postAnswers(context, session, runs, pageAnswers);
  return { sessionId, runId, from: segment.to };
}

/** Throws for a form that is not the one that the run's prompt asked for. */
function refuseOtherFormat([accepted]: readonly Fact[], format: AnswerFormat | undefined): void {
  const input = accepted?.type === "input_accepted" ? accepted.input : undefined;
  const asked = input !== undefined && "options" in input ? input.options?.["output"] : undefined;
  if (format === undefined || equalJson(asked ?? null, format.schema)) return;
  throw refused(
    "the message that began this asked for another form: send that one, or none",
    "/text",
  );
}

/** The segment that asked what is answered. Throws for an answer to nothing. */
function askedBy(
  segments: readonly ResponseSegment[],
  pageAnswers: readonly PageAnswer[],
  from: number | undefined,
): ResponseSegment & { readonly to: number } {
  const [first] = pageAnswers;
  const among = from === undefined ? segments : segments.filter((each) => each.from === from);
  const segment = among.findLast(({ asked }) => first !== undefined && asked.includes(idOf(first)));
  const stray = pageAnswers.find((reply) => segment?.asked.includes(idOf(reply)) !== true);
  if (segment?.to !== undefined && stray === undefined) return { ...segment, to: segment.to };
  const answered = stray ?? first;
  const what = answered === undefined ? "this" : idOf(answered).slice(0, 64);
  throw refused(`nothing waits for an answer to ${what}`, "/input");
}

function idOf(reply: PageAnswer): string {
  return reply.kind === "output" ? reply.toolCallId : reply.approvalId;
}

/** Throws while a run waits for more than a request answers: nothing would go on. */
function refuseUnanswered(
  { isWaiting, state }: SessionRuns,
  pageAnswers: readonly PageAnswer[],
): void {
  if (!isWaiting) return;
  const answered = new Set(pageAnswers.map(idOf));
  const lacking = askedIn(state).find((id) => !answered.has(id));
  if (lacking === undefined) return;
  const isCall = state.executions.some(({ callId }) => callId === lacking);
  const fix = isCall
    ? `No tool output found for function call ${lacking}: send a function_call_output`
    : `No decision found for ${lacking}: send an mcp_approval_response, or decide it at /v1/sessions/{id}/approvals`;
  throw refused(fix, "/input");
}

/** Throws for a response that is not the last one of its session. */
function refusePast({ run, ended, next }: SessionRuns, { segment, segments }: ReadSegment): void {
  const last = next ?? run ?? ended;
  const pointer = "/previous_response_id";
  if (run?.runId === segment.runId)
    throw refused("this response is not over: wait for it, or cancel it", pointer);
  if (last?.runId === segment.runId && segments.at(-1)?.from === segment.from) return;
  const fix = "go on with the newest, or fork the session by /v1/sessions/{id}/forks";
  throw refused(`this response is not the newest of its session: ${fix}`, pointer);
}
