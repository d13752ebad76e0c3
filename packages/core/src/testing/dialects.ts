import type { BeginPart } from "../delta/delta.ts";
import type { Batch } from "../event/batch.ts";
import type { Fact, LiveEvent } from "../event/event.ts";

/** What a dialect sends for one message: its events, before they are framed. */
type Speak = (message: Fact | Batch, begun: Map<string, BeginPart>) => readonly object[];

/** The bytes of a session as a dialect sends it over server-sent events: one event for each delta. */
export function bytesIn(speak: Speak, messages: readonly (Fact | Batch)[]): number {
  const begun = new Map<string, BeginPart>();
  const events = messages.flatMap((message) => speak(message, begun));
  return events.reduce((sum, event) => sum + framed(event), 0);
}

function framed(event: object): number {
  return new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`).length;
}

function deltasOf(events: readonly LiveEvent[]) {
  return events.flatMap((event) => (event.type === "content_delta" ? [event.delta] : []));
}

/** The UI message stream of the AI SDK. Its ids of texts are short. */
export const aiSdk: Speak = (message, begun) => {
  if ("n" in message) return aiSdkFact(message);
  return deltasOf(message.events).flatMap((delta): object[] => {
    if (delta.op === "begin_part") begun.set(delta.partId, delta);
    const begin = begun.get(delta.partId);
    const call = begin !== undefined && "callId" in begin ? begin : undefined;
    if (begin === undefined) return [];
    if (begin.kind === "tool_result") {
      if (delta.op !== "append_text") return [];
      return [{ type: "data-tool-output", id: begin.callId, data: delta.chunk }];
    }
    switch (delta.op) {
      case "begin_part":
        if (call === undefined) return [{ type: "text-start", id: "0" }];
        return [{ type: "tool-input-start", toolCallId: call.callId, toolName: call.tool }];
      case "append_text":
        if (call === undefined) return [{ type: "text-delta", id: "0", delta: delta.chunk }];
        return [{ type: "tool-input-delta", toolCallId: call.callId, inputTextDelta: delta.chunk }];
      case "commit_part": {
        if (delta.part.kind !== "tool_call") return [{ type: "text-end", id: "0" }];
        const { callId: toolCallId, tool: toolName, input } = delta.part;
        return [{ type: "tool-input-available", toolCallId, toolName, input }];
      }
      default:
        return [];
    }
  });
};

function aiSdkFact(fact: Fact): readonly object[] {
  switch (fact.type) {
    case "run_started":
      return [{ type: "start" }];
    case "turn_started":
      return [{ type: "start-step" }];
    case "turn_finished":
      return [{ type: "finish-step" }];
    case "run_finished":
      return [{ type: "finish", finishReason: "stop" }];
    case "item_committed":
      return fact.item.parts.flatMap((part) =>
        part.kind === "tool_result"
          ? [{ type: "tool-output-available", toolCallId: part.callId, output: part.text }]
          : [],
      );
    default:
      return [];
  }
}

/** AG-UI events. Its id of a message is that of our item. */
export const agUi: Speak = (message, begun) => {
  if ("n" in message) return agUiFact(message);
  const messageId = message.itemId;
  return deltasOf(message.events).flatMap((delta): object[] => {
    if (delta.op === "begin_part") begun.set(delta.partId, delta);
    const begin = begun.get(delta.partId);
    const call = begin !== undefined && "callId" in begin ? begin : undefined;
    if (begin === undefined) return [];
    const toolCallId = call?.callId;
    if (begin.kind === "tool_result") {
      if (delta.op !== "append_text") return [];
      const value = { toolCallId, delta: delta.chunk };
      return [{ type: "CUSTOM", name: "tool-output", value }];
    }
    switch (delta.op) {
      case "begin_part":
        if (call === undefined)
          return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
        return [{ type: "TOOL_CALL_START", toolCallId, toolCallName: call.tool }];
      case "append_text":
        if (call === undefined)
          return [{ type: "TEXT_MESSAGE_CONTENT", messageId, delta: delta.chunk }];
        return [{ type: "TOOL_CALL_ARGS", toolCallId, delta: delta.chunk }];
      case "commit_part":
        if (call === undefined) return [{ type: "TEXT_MESSAGE_END", messageId }];
        return [{ type: "TOOL_CALL_END", toolCallId }];
      default:
        return [];
    }
  });
};

function agUiFact(fact: Fact): readonly object[] {
  const threadId = fact.sessionId;
  switch (fact.type) {
    case "run_started":
      return [{ type: "RUN_STARTED", threadId, runId: fact.runId }];
    case "turn_started":
      return [{ type: "STEP_STARTED", stepName: fact.turnId }];
    case "turn_finished":
      return [{ type: "STEP_FINISHED", stepName: fact.turnId }];
    case "run_finished":
      return [{ type: "RUN_FINISHED", threadId, runId: fact.runId }];
    case "item_committed":
      return fact.item.parts.flatMap((part) =>
        part.kind === "tool_result"
          ? [
              {
                type: "TOOL_CALL_RESULT",
                messageId: fact.item.id,
                toolCallId: part.callId,
                content: part.text,
                role: "tool",
              },
            ]
          : [],
      );
    default:
      return [];
  }
}
