import type { CallResult, RunCall, TextPart } from "./run-events.ts";

/** An item of a response's output. Only the kinds that a run of ours has. */
export type OutputItem =
  | {
      readonly type: "message";
      readonly id: string;
      readonly status: ItemStatus;
      readonly role: "assistant";
      readonly content: readonly OutputText[];
    }
  | {
      readonly type: "reasoning";
      readonly id: string;
      readonly status: ItemStatus;
      readonly summary: readonly SummaryText[];
    }
  | {
      readonly type: "function_call";
      readonly id: string;
      readonly status: ItemStatus;
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: "mcp_call";
      readonly id: string;
      readonly status: ItemStatus | "failed";
      readonly server_label: string;
      readonly name: string;
      readonly arguments: string;
      readonly approval_request_id: string | null;
      readonly output: string | null;
      readonly error: {
        readonly type: "mcp_tool_execution_error";
        readonly content: string;
      } | null;
    }
  | {
      readonly type: "mcp_approval_request";
      readonly id: string;
      readonly server_label: string;
      readonly name: string;
      readonly arguments: string;
    };

type ItemStatus = "in_progress" | "completed" | "incomplete";

export interface OutputText {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly [];
  readonly logprobs: readonly [];
}

export interface SummaryText {
  readonly type: "summary_text";
  readonly text: string;
}

/**
 * Under which name the agent's tools appear. They are calls of an MCP server, since those are carried out by the
 * side that writes the response: a client runs each `function_call` that it is sent.
 */
const serverLabel = "agent";

/** A text as the content of a message. */
export function outputText(text: string): OutputText {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

/** A part of a reply as an item. Without content while nothing of it is sent. */
export function partItem({ id, kind }: TextPart, status: ItemStatus, text = ""): OutputItem {
  const isEmpty = status === "in_progress";
  if (kind === "reasoning") {
    const summary = isEmpty ? [] : ([{ type: "summary_text", text }] as const);
    return { type: "reasoning", id: `rs_${id}`, status, summary };
  }
  const content = isEmpty ? [] : [outputText(text)];
  return { type: "message", id: `msg_${id}`, status, role: "assistant", content };
}

/** A call that the client carries out. */
export function functionCall({ id, callId, tool, input }: RunCall, isEmpty: boolean): OutputItem {
  return {
    type: "function_call",
    id: `fc_${id}`,
    status: isEmpty ? "in_progress" : "completed",
    call_id: callId,
    name: tool,
    arguments: isEmpty ? "" : input,
  };
}

/** A question about a call. Its id is what an answer names. */
export function approvalRequest({ tool, input }: RunCall, approvalId: string): OutputItem {
  return {
    type: "mcp_approval_request",
    id: approvalId,
    server_label: serverLabel,
    name: tool,
    arguments: input,
  };
}

/** A call of one of the agent's own tools. */
export function serverCall(
  { id, tool, input, approvalId = null as never }: RunCall,
  stage: "empty" | "ended",
  result?: CallResult,
): OutputItem {
  const isOk = result?.status === "ok";
  const status =
    stage === "empty"
      ? "in_progress"
      : result === undefined
        ? "incomplete"
        : isOk
          ? "completed"
          : "failed";
  const content = result?.text ?? "";
  return {
    type: "mcp_call",
    id: `mcp_${id}`,
    status,
    server_label: serverLabel,
    name: tool,
    arguments: stage === "empty" ? "" : input,
    approval_request_id: approvalId,
    output: isOk ? content : null,
    error:
      stage === "empty" || isOk || result === undefined
        ? null
        : { type: "mcp_tool_execution_error", content },
  };
}
