import type { Json } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import type { RunRecord } from "../../shared/encode/run-record.ts";
import type { Chunk, DataChunk, MessageMetadata } from "./chunks.ts";
import type { Profile } from "./profiles.ts";
import { RunEncoder } from "./run-encoder.ts";
import type { RunEncoderOptions } from "./run-encoder.ts";

/** A part of a message as clients hold it. */
export type UiPart = Readonly<Record<string, unknown>> & { readonly type: string };

/** A message as clients hold it. */
export interface UiMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly metadata?: Json | MessageMetadata | undefined;
  readonly parts: readonly UiPart[];
}

/** The message of a run as a client has it that was sent all of it. Undefined: nothing is shown of it. */
export function messageOf(record: RunRecord, options: RunEncoderOptions): UiMessage | undefined {
  const encoder = new RunEncoder(options);
  const message = foldChunks(options.profile, encoder.encode(record));
  return message.parts.length === 0 ? undefined : message;
}

type FoldedPart = Record<string, unknown>;

/** What a client makes of chunks. Only of those that the encoder makes of a run in one go. */
function foldChunks(profile: Profile, chunks: readonly Chunk[]): UiMessage {
  const parts: FoldedPart[] = [];
  const open = new Map<string, FoldedPart>();
  const begin = (id: string, part: FoldedPart): void => {
    parts.push(part);
    open.set(id, part);
  };
  let id = "";
  let metadata: MessageMetadata | undefined;
  for (const chunk of chunks) {
    switch (chunk.type) {
      case "start":
        id = chunk.messageId;
        break;
      case "start-step":
        parts.push({ type: "step-start" });
        break;
      case "text-start":
        begin(chunk.id, { type: "text", text: "", state: "streaming" });
        break;
      case "reasoning-start": {
        const named = profile.namesReasoning ? { id: chunk.id } : {};
        begin(chunk.id, { type: "reasoning", ...named, text: "", state: "streaming" });
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const part = open.get(chunk.id) ?? {};
        part["text"] = `${String(part["text"])}${chunk.delta}`;
        break;
      }
      case "text-end":
      case "reasoning-end":
        (open.get(chunk.id) ?? {})["state"] = "done";
        break;
      case "file":
      case "steering-message":
        parts.push({ ...chunk });
        break;
      case "finish":
        metadata = chunk.messageMetadata;
        break;
      default:
        if ("data" in chunk) putData(parts, chunk);
        else foldCall(profile, parts, chunk);
    }
  }
  const known = metadata === undefined ? {} : { metadata };
  return { id, role: "assistant", ...known, parts: parts as UiPart[] };
}

function foldCall(profile: Profile, parts: FoldedPart[], chunk: Chunk): void {
  const change = (id: string, changes: FoldedPart): void =>
    void Object.assign(parts.findLast(({ toolCallId }) => toolCallId === id) ?? {}, changes);
  switch (chunk.type) {
    case "tool-input-available": {
      const { toolCallId, toolName, input } = chunk;
      parts.push({ type: `tool-${toolName}`, toolCallId, state: "input-available", input });
      return;
    }
    case "tool-input-error": {
      const { toolCallId, toolName, input, errorText } = chunk;
      const given = profile.keepsRawInput ? { rawInput: input } : { input };
      const state = "output-error";
      parts.push({ type: `tool-${toolName}`, toolCallId, state, ...given, errorText });
      return;
    }
    case "tool-approval-request": {
      const { toolCallId, approvalId: id } = chunk;
      change(toolCallId, { state: "approval-requested", approval: { id } });
      return;
    }
    case "tool-approval-response": {
      const { approvalId, approved, reason } = chunk;
      const asked = parts.find(({ approval }) => isNamed(approval, approvalId)) ?? {};
      const why = reason === undefined ? {} : { reason };
      const approval = { id: approvalId, approved, ...why };
      Object.assign(asked, { state: "approval-responded", approval });
      return;
    }
    case "tool-output-available":
      change(chunk.toolCallId, { state: "output-available", output: chunk.output });
      return;
    case "tool-output-error":
      change(chunk.toolCallId, { state: "output-error", errorText: chunk.errorText });
      return;
    case "tool-output-denied":
      change(chunk.toolCallId, { state: "output-denied" });
      return;
    default: // what ends a step or a stream is no part of the message
  }
}

function putData(parts: FoldedPart[], chunk: DataChunk): void {
  if (chunk.transient === true) return;
  const { type, id, data } = chunk;
  const known = parts.find((part) => part["type"] === type && part["id"] === id);
  if (known === undefined) parts.push({ type, id, data });
  else known["data"] = data;
}

function isNamed(approval: unknown, id: string): boolean {
  return isJsonObject(approval) && approval["id"] === id;
}
