import { isJsonObject } from "@millrace/core/json";
import type { Cause, Json, JsonObject } from "@millrace/core";
import type { VendorEvent } from "../../framing/framing.ts";
import type { Operation, Translated } from "../../protocol.ts";
import { vendorFailure } from "../../failure.ts";
import { filledAt, isSound, listAt, objectAt } from "../read.ts";
import { candidateOf, factsOf, isFirst, isKnown } from "./events.ts";
import { addNotes, hasNote } from "./notes.ts";
import { takePart } from "./parts.ts";
import type { Finish, GeminiState, Stamp } from "./state.ts";
import { hasCounts } from "./usage.ts";
import { Work } from "./work.ts";

const none: readonly Operation[] = [];

export function step(state: GeminiState, { data }: VendorEvent): Translated<GeminiState> {
  // The vendor sends no sentinel. Gateways add one.
  if (data === undefined) return { state, operations: none, sign: "over" };
  const more = moreText(state, data);
  if (more !== undefined) return more;
  const reported = data["error"];
  if (reported !== undefined && reported !== null) {
    return { state, operations: none, failure: failureOf(reported) };
  }
  if (!isKnown(data)) return { state, operations: none, sign: "unknown" };
  const work = new Work(state.reply);
  work.reply.facts ??= factsOf(data);
  const feedback = objectAt(data, "promptFeedback");
  if (feedback !== undefined) takeFeedback(work, feedback);
  const candidate = candidateOf(data);
  if (candidate !== undefined) takeCandidate(work, candidate);
  return translated(state, data, work);
}

function translated(state: GeminiState, data: JsonObject, work: Work): Translated<GeminiState> {
  const reply = work.result;
  const usage = usageIn(data) ?? state.usage;
  const same = reply === state.reply && usage === state.usage;
  const next = same ? state : { reply, usage };
  const { operations, failure } = work;
  if (failure !== undefined) return { state: next, operations, failure };
  const moved =
    operations.length > 0 ||
    reply.finish !== state.reply.finish ||
    reply.block !== state.reply.block;
  return moved ? { state: next, operations } : { state: next, operations, sign: "alive" };
}

/** The fast path for the commonest event: only more text or thoughts. */
function moreText(state: GeminiState, data: JsonObject): Translated<GeminiState> | undefined {
  const { writing, finish } = state.reply;
  if (writing === undefined || writing.kind === "sound" || finish !== undefined) return undefined;
  if (data["error"] !== undefined || data["promptFeedback"] !== undefined) return undefined;
  const candidates = data["candidates"];
  if (!Array.isArray(candidates) || candidates.length !== 1) return undefined;
  const candidate = candidates[0] as Json;
  if (!isJsonObject(candidate) || !isFirst(candidate)) return undefined;
  if (candidate["finishReason"] !== undefined || hasNote(candidate)) return undefined;
  const content = candidate["content"];
  const parts = isJsonObject(content) ? content["parts"] : undefined;
  if (!Array.isArray(parts) || parts.length !== 1) return undefined;
  const part = parts[0] as Json;
  if (!isJsonObject(part) || part["thoughtSignature"] !== undefined) return undefined;
  const chunk = part["text"];
  if (typeof chunk !== "string" || chunk === "") return undefined;
  if ((part["thought"] === true) !== (writing.kind === "reasoning")) return undefined;
  const usage = usageIn(data);
  return {
    state: usage === undefined ? state : { reply: state.reply, usage },
    operations: [{ op: "append_text", partId: writing.id, chunk }],
  };
}

function usageIn(data: JsonObject): JsonObject | undefined {
  const usage = data["usageMetadata"];
  return isJsonObject(usage) && hasCounts(usage) ? usage : undefined;
}

/** The cause for an error inside a stream. */
function failureOf(error: Json): Cause {
  if (!isJsonObject(error)) {
    const message = typeof error === "string" ? error : "the vendor reported an error";
    return vendorFailure([], message.toWellFormed(), isSound(error) ? error : null);
  }
  const message = filledAt(error, "message") ?? "the vendor reported an error";
  const evidence = isSound(error) ? error : null;
  return vendorFailure([error["status"], error["code"]], message.toWellFormed(), evidence);
}

/** Feedback without a block reason only rates the prompt. */
function takeFeedback(work: Work, feedback: JsonObject): void {
  const blockReason = filledAt(feedback, "blockReason");
  if (blockReason === undefined) return;
  work.reply.block = isSound(feedback) ? feedback : { blockReason: blockReason.toWellFormed() };
}

function takeCandidate(work: Work, candidate: JsonObject): void {
  const content = objectAt(candidate, "content");
  const parts = content === undefined ? [] : listAt(content, "parts");
  const before = work.operations.length;
  for (const part of parts) {
    takePart(work, part);
    if (work.failure !== undefined) return;
  }
  // The mean comes with the reason.
  if (hasNote(candidate) || candidate["avgLogprobs"] !== undefined)
    work.reply.notes = addNotes(work.reply.notes, candidate);
  const isContent = work.operations.length > before;
  const finish = finishOf(candidate, isContent);
  if (isContent) work.reply.stamp = stamped(work.reply.stamp, finish?.reason);
  if (finish !== undefined) work.reply.finish = finish;
  // Content without a reason means that the model continues.
  else if (isContent && work.reply.finish !== undefined) {
    work.reply.finish = { ...work.reply.finish, content: "behind" };
  }
}

function stamped(stamp: Stamp | undefined, reason: string | undefined): Stamp {
  if (stamp === undefined) return { reason, events: 1 };
  if (stamp.reason === undefined) return stamp;
  return { reason: stamp.reason === reason ? reason : undefined, events: stamp.events + 1 };
}

function finishOf(candidate: JsonObject, isContent: boolean): Finish | undefined {
  const reason = filledAt(candidate, "finishReason");
  if (reason === undefined) return undefined;
  const ratings = candidate["safetyRatings"];
  return {
    reason: reason.toWellFormed(),
    message: filledAt(candidate, "finishMessage")?.toWellFormed(),
    token: filledAt(candidate, "continuationToken")?.toWellFormed(),
    safetyRatings: ratings !== undefined && isSound(ratings) ? ratings : undefined,
    content: isContent ? "beside" : "before",
  };
}
