import type { JsonObject, Usage } from "@millrace/core";
import type { WholeStop } from "@millrace/core/writing";
import type { Halt, StreamEnd } from "../../protocol.ts";
import { cutEnding } from "../../reply.ts";
import { failure } from "../../failure.ts";
import { closeCalls } from "./calls.ts";
import { filledAt, isSound } from "../read.ts";
import { mergeNotes } from "./notes.ts";
import type { Finish, GeminiState, OpenText, ReplyState } from "./state.ts";
import { verdictOf } from "./stop.ts";
import { usageOf } from "./usage.ts";
import { Work } from "./work.ts";

/** The name of the part that keeps the token to resume a paused reply. */
export const continuationPart = "continuationToken";

/**
 * Decides how the reply ended. Only a `finishReason` proves that the model stopped, and only a
 * `blockReason` that it never began. The end of the bytes proves nothing.
 */
export function halt(state: GeminiState, end: StreamEnd): Halt {
  const usage = usageOf(state.usage);
  const { block, finish } = state.reply;
  if (end.kind === "failed") return withUsage({ operations: [], ending: cutEnding(end) }, usage);
  if (block !== undefined) {
    return withUsage(whole(state, "filtered", { ...block, ...factsOf(state) }), usage);
  }
  if (finish === undefined || !isProof(finish, state.reply, end)) {
    const facts = factsOf(state);
    const ending = cutEnding(end, Object.keys(facts).length === 0 ? undefined : facts);
    return withUsage({ operations: [], ending }, usage);
  }
  const evidence = { ...finishFacts(finish), ...factsOf(state) };
  const verdict = verdictOf(finish.reason);
  if ("stop" in verdict) return withUsage(whole(state, verdict.stop, evidence), usage);
  const message = finish.message ?? verdict.message;
  const cause = failure(verdict.failed, message, evidence);
  return withUsage({ operations: [], ending: { stop: "failed", cause } }, usage);
}

/**
 * True if the reason ends the reply: no content is behind it, and the stream does not stamp it on
 * every event with content. The mark of a gateway ends the reply in any case.
 */
function isProof({ content }: Finish, { stamp }: ReplyState, end: StreamEnd): boolean {
  if (end.kind === "over" || content === "before") return true;
  const isStamp = stamp?.reason !== undefined && stamp.events > 1;
  return content === "beside" && !isStamp;
}

function withUsage(halt: Halt, usage: Usage | undefined): Halt {
  return usage === undefined ? halt : { ...halt, usage };
}

/** The ending of a complete reply, with all open parts closed. */
function whole({ reply }: GeminiState, reported: WholeStop, evidence: JsonObject): Halt {
  const work = new Work(reply);
  work.endWriting();
  closeCalls(work, reported === "end");
  const about = closeNotes(work, reply);
  if (reported === "paused" && reply.finish?.token !== undefined)
    keepToken(work, reply.finish.token);
  const stop = reported === "end" && reply.calls > 0 ? "tools" : reported;
  return {
    operations: work.operations,
    namelessCalls: reply.namelessCalls,
    ending: { stop, evidence: { ...evidence, ...about, ...flagsOf(reply, reported) } },
  };
}

/** Sets the notes as metadata of the newest text. Without a text they become evidence. */
function closeNotes(work: Work, { text, notes }: ReplyState): JsonObject {
  const merged = mergeNotes(notes);
  const dropped = notes.dropped > 0 ? { droppedNotes: notes.dropped } : {};
  if (Object.keys(merged).length === 0) {
    work.closeText();
    return dropped;
  }
  const metadata = { ...signed(text), ...merged };
  if (!isSound(metadata)) {
    work.closeText();
    return { droppedNotes: notes.dropped + 1 };
  }
  if (text === undefined) return { ...merged, ...dropped };
  work.closeText(metadata);
  return dropped;
}

function signed(text: OpenText | undefined): JsonObject {
  return text?.signature === undefined ? {} : { thoughtSignature: text.signature };
}

/** Stores the token in a part, because requests are built from parts and not from evidence. */
function keepToken(work: Work, token: string): void {
  const partId = work.begin({ kind: "custom", name: continuationPart });
  work.push({ op: "replace_structured", partId, value: { continuationToken: token } });
  work.push({ op: "close_part", partId });
}

/** Flags for the evidence of a reply that is complete but doubtful: empty, or with an open call. */
function flagsOf({ parts, call }: ReplyState, reported: WholeStop): JsonObject {
  return {
    ...(reported === "end" && parts === 0 ? { empty: true } : {}),
    ...(call === undefined ? {} : { unfinishedCall: true }),
  };
}

function finishFacts({ reason, message, token, safetyRatings }: Finish): JsonObject {
  const verdict = verdictOf(reason);
  const isFiltered = "stop" in verdict && verdict.stop === "filtered";
  return {
    finishReason: reason,
    ...(message === undefined ? {} : { finishMessage: message }),
    ...(token === undefined ? {} : { continuationToken: token }),
    ...(isFiltered && safetyRatings !== undefined ? { safetyRatings } : {}),
  };
}

/** Facts of the events, and the service facts of the usage. */
function factsOf({ reply, usage }: GeminiState): JsonObject {
  const tier = usage === undefined ? undefined : filledAt(usage, "serviceTier");
  const traffic = usage === undefined ? undefined : filledAt(usage, "trafficType");
  return {
    ...reply.facts,
    ...(tier === undefined ? {} : { serviceTier: tier.toWellFormed() }),
    ...(traffic === undefined ? {} : { trafficType: traffic.toWellFormed() }),
  };
}
