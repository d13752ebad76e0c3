import type { Json, ViewToolCall } from "@millrace/core";
import type { Asked } from "../../shared/encode/run-record.ts";
import type { Chunk } from "./chunks.ts";
import type { Profile } from "./profiles.ts";
import type { ToldCall } from "./told.ts";

/** The question about a call, and its answer, as far as they were not sent. `isOpen`: it waits for the answer. */
export function* tellQuestion(
  profile: Profile,
  told: ToldCall,
  { question, answer }: Asked,
  isOpen: boolean,
): Generator<Chunk, void, undefined> {
  const { toolCallId } = told;
  const { approvalId } = question;
  const isNew = told.approvalId !== approvalId;
  const isAnswered = answer !== undefined;
  if (!isNew && told.isAnswered === isAnswered) return;
  told.approvalId = approvalId;
  told.isAnswered = isAnswered;
  if (!profile.asks) {
    const decision = answer === undefined ? {} : { decision: answer.decision };
    const data: Json = {
      toolCallId,
      toolName: told.toolName,
      input: question.input,
      hash: question.hash,
      ...decision,
    };
    yield { type: "data-approval", id: approvalId, data };
    return;
  }
  // Without a chunk for the answer, a question that is answered would stay open for a page that comes later.
  if (isNew && (profile.answers || isOpen))
    yield { type: "tool-approval-request", approvalId, toolCallId };
  if (!isAnswered || !profile.answers) return;
  const { decision, reason } = answer;
  const why = reason === undefined ? {} : { reason };
  yield { type: "tool-approval-response", approvalId, approved: decision === "allow", ...why };
}

/** What a call does and what it came to, as far as that was not sent. */
export function* tellOutcome(
  profile: Profile,
  told: ToldCall,
  call: ViewToolCall,
): Generator<Chunk, void, undefined> {
  const { toolCallId } = told;
  switch (call.state) {
    case "writing":
    case "waiting":
      return;
    case "running":
      yield* tellProgress(told, call);
      return;
    case "finished":
      if (told.outcome !== undefined) return;
      told.outcome = "finished";
      yield { type: "tool-output-available", toolCallId, output: call.output };
      return;
    case "denied": {
      const errorText = call.reason ?? "It was denied.";
      if (told.outcome === errorText) return;
      told.outcome = errorText;
      yield profile.asks
        ? { type: "tool-output-denied", toolCallId }
        : { type: "tool-output-error", toolCallId, errorText };
      return;
    }
    case "failed":
    case "unknown":
      if (told.outcome === call.message) return;
      told.outcome = call.message;
      yield { type: "tool-output-error", toolCallId, errorText: call.message };
      return;
    default:
      call satisfies never;
  }
}

/** Progress is no part of the message: what is transient is shown and not kept. */
function* tellProgress(
  told: ToldCall,
  call: Extract<ViewToolCall, { state: "running" }>,
): Generator<Chunk, void, undefined> {
  const { toolCallId } = told;
  const { childSessionId, message, text } = call;
  if (childSessionId !== undefined && told.child !== childSessionId) {
    told.child = childSessionId;
    const data = { toolCallId, sessionId: childSessionId };
    yield { type: "data-sub-agent", id: toolCallId, data, transient: true };
  }
  // A tool that is repeated begins its output anew.
  const isAnew = text.length < told.sent;
  const added = text.slice(isAnew ? 0 : told.sent);
  const isNews = message !== undefined && message !== told.message;
  if (!isNews && added === "" && !isAnew) return;
  told.message = message;
  told.sent = text.length;
  const data = {
    toolCallId,
    ...(isNews ? { message } : {}),
    ...(added === "" && !isAnew
      ? {}
      : { text: added, from: isAnew ? 0 : text.length - added.length }),
  };
  yield { type: "data-tool-progress", id: toolCallId, data, transient: true };
}
