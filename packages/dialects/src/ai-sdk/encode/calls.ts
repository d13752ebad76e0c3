import type { Json, ViewToolCall } from "@millrace/core";
import type { Asked } from "../../shared/encode/run-record.ts";
import type { Chunk } from "./chunks.ts";
import type { Profile } from "./profiles.ts";
import { newProgress } from "../../shared/encode/sent-items.ts";
import type { SentCall } from "../../shared/encode/sent-items.ts";

/** The question about a call, and its answer, as far as they were not sent. `isOpen`: it waits for the answer. */
export function* encodeQuestion(
  profile: Profile,
  sent: SentCall,
  { question, answer }: Asked,
  isOpen: boolean,
): Generator<Chunk, void, undefined> {
  const { id: toolCallId } = sent;
  const { approvalId } = question;
  const isNew = sent.approvalId !== approvalId;
  const isAnswered = answer !== undefined;
  if (!isNew && sent.isAnswered === isAnswered) return;
  sent.approvalId = approvalId;
  sent.isAnswered = isAnswered;
  if (!profile.asks) {
    const decision = answer === undefined ? {} : { decision: answer.decision };
    const data: Json = {
      toolCallId,
      toolName: sent.tool,
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
  // A page takes an answer for the newest state of its call: what the call came to before is sent again after it.
  delete sent.outcome;
  const { decision, reason } = answer;
  const why = reason === undefined ? {} : { reason };
  yield { type: "tool-approval-response", approvalId, approved: decision === "allow", ...why };
}

/** What a call does and what it came to, as far as that was not sent. */
export function* encodeOutcome(
  profile: Profile,
  sent: SentCall,
  call: ViewToolCall,
): Generator<Chunk, void, undefined> {
  const { id: toolCallId } = sent;
  switch (call.state) {
    case "writing":
    case "waiting":
      return;
    case "running":
      yield* encodeProgress(sent, call);
      return;
    case "finished":
      if (sent.outcome !== undefined) return;
      sent.outcome = "finished";
      yield { type: "tool-output-available", toolCallId, output: call.output };
      return;
    case "denied": {
      const errorText = call.reason ?? "It was denied.";
      if (sent.outcome === errorText) return;
      sent.outcome = errorText;
      yield profile.asks
        ? { type: "tool-output-denied", toolCallId }
        : { type: "tool-output-error", toolCallId, errorText };
      return;
    }
    case "failed":
    case "unknown":
      if (sent.outcome === call.message) return;
      sent.outcome = call.message;
      yield { type: "tool-output-error", toolCallId, errorText: call.message };
      return;
    default:
      call satisfies never;
  }
}

/** Progress is no part of the message: what is transient is shown and not kept. */
function* encodeProgress(
  sent: SentCall,
  call: Extract<ViewToolCall, { state: "running" }>,
): Generator<Chunk, void, undefined> {
  const { id: toolCallId } = sent;
  const { childSessionId } = call;
  if (childSessionId !== undefined && sent.child !== childSessionId) {
    sent.child = childSessionId;
    const data = { toolCallId, sessionId: childSessionId };
    yield { type: "data-sub-agent", id: toolCallId, data, transient: true };
  }
  const progress = newProgress(sent, call);
  if (progress === undefined) return;
  const data = { toolCallId, ...progress };
  yield { type: "data-tool-progress", id: toolCallId, data, transient: true };
}
