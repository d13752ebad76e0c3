import type { CallId, JsonObject, SessionState, Usage } from "@millrace/core";
import type { RunRecord } from "../../shared/encode/run-record.ts";
import type { AgUiEvent, Interrupt, RunFinished, RunOutcome, TokenUsage } from "./events.ts";
import { callNameOf } from "./messages.ts";

/** How a reader names the run that it asked for, and which version it reads. */
export interface AskedRun {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  /** Whether it reads 1.0: before it there is no outcome for a stop, and none that names calls. */
  readonly isVersion1: boolean;
}

/** The first event of each stream. */
export function startOf({ threadId, runId, parentRunId, isVersion1 }: AskedRun): AgUiEvent {
  return {
    type: "RUN_STARTED",
    threadId,
    runId,
    ...(isVersion1 ? { protocolVersion: "1.0" } : {}),
    ...(parentRunId === undefined ? {} : { parentRunId }),
  };
}

/** The end of a run that is over, or of which there is nothing to show. A failure is an error. */
export function endOf(asked: AskedRun, { ended, state, phase }: RunRecord): AgUiEvent {
  const usage = usageOf(state.usage);
  if (ended?.outcome === "failed") {
    const { message, code } = ended.cause;
    return { type: "RUN_ERROR", message, code, ...usage };
  }
  // A prompt that was taken back came to as little as a run that was stopped.
  const how = ended?.outcome ?? (phase === "gone" ? "aborted" : "completed");
  const isCut = how === "aborted" || how === "limited";
  const outcome: RunOutcome = { type: isCut && asked.isVersion1 ? "cancelled" : "success" };
  const limit = ended?.outcome === "limited" ? { limit: ended.limit } : {};
  const metadata = { millrace: { outcome: how, ...limit } };
  return { ...finished(asked, outcome), ...usage, metadata };
}

/** The end of a stream whose reader is to answer: questions, or calls of its own tools. */
export function waitingEnd(asked: AskedRun, { state, asked: questions }: RunRecord): RunFinished {
  const items = state.items.toArray();
  const metadata = { millrace: { outcome: "waiting" } };
  const interrupts = questions.flatMap(({ question, itemId, answer }): Interrupt[] => {
    if (answer !== undefined) return [];
    const { approvalId, callId, tool, input, parsed, hash } = question;
    const toolCallId = callNameOf(items, itemId, callId) ?? callId;
    const given = parsed === undefined ? {} : { parsed };
    return [
      {
        id: approvalId,
        reason: "tool_call",
        message: `Allow ${tool}?`,
        toolCallId,
        responseSchema: decision,
        metadata: { millrace: { tool, input, ...given, hash } },
      },
    ];
  });
  if (interrupts.length > 0)
    return { ...finished(asked, { type: "interrupt", interrupts }), metadata };
  const calls = [...clientCalls(state).keys()];
  const named = asked.isVersion1 ? { pendingToolCallIds: calls } : {};
  return { ...finished(asked, { type: "success", ...named }), metadata };
}

/** The calls that clients are to carry out, by the names that pages have for them. */
export function clientCalls({ executions, items, run }: SessionState): ReadonlyMap<string, CallId> {
  const all = items.toArray();
  return new Map(
    executions.flatMap(({ client, callId }) => {
      const name = client === true ? callNameOf(all, run?.turn?.reply, callId) : undefined;
      return name === undefined ? [] : [[name, callId] as const];
    }),
  );
}

/** What an answer to a question looks like. */
const decision: JsonObject = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"],
  additionalProperties: false,
};

function finished({ threadId, runId }: AskedRun, outcome: RunOutcome): RunFinished {
  return { type: "RUN_FINISHED", threadId, runId, outcome };
}

/** Left out if nothing is known to have been used. */
function usageOf(usage: Usage): { readonly usage?: readonly TokenUsage[] } {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  if (inputTokens + outputTokens === 0) return {};
  const used: TokenUsage = {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cachedInputTokens: cachedTokens,
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteInputTokens: cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
  return { usage: [used] };
}
