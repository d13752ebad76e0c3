import type { Json } from "@millrace/core";
import type { RunRecord } from "../run-record.ts";
import type { Chunk, MessageMetadata } from "./chunks.ts";
import type { Profile } from "./profiles.ts";
import { Speaker } from "./speaker.ts";
import type { SpeakerOptions } from "./speaker.ts";

/** A part of a message as clients hold it. */
export type UiPart = Readonly<Record<string, unknown>> & { readonly type: string };

/** A message as clients hold it. */
export interface UiMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly metadata?: Json | MessageMetadata | undefined;
  readonly parts: readonly UiPart[];
}

/** The message of a run as a client has it that was told all of it. Undefined: nothing is shown of it. */
export function messageOf(record: RunRecord, options: SpeakerOptions): UiMessage | undefined {
  const speaker = new Speaker(options);
  const message = foldChunks(options.profile, speaker.tell(record));
  return message.parts.length === 0 ? undefined : message;
}

/** What a client makes of chunks. Only those that the speaker makes of a run in one go. */
function foldChunks(profile: Profile, chunks: readonly Chunk[]): UiMessage {
  const parts: Record<string, unknown>[] = [];
  const open = new Map<string, Record<string, unknown>>();
  const put = (part: Record<string, unknown>): Record<string, unknown> => {
    parts.push(part);
    return part;
  };
  const call = (id: string): Record<string, unknown> =>
    parts.findLast(({ toolCallId }) => toolCallId === id) ?? {};
  let id = "";
  let metadata: MessageMetadata | undefined;
  for (const chunk of chunks) {
    switch (chunk.type) {
      case "start":
        id = chunk.messageId;
        break;
      case "start-step":
        put({ type: "step-start" });
        break;
      case "text-start":
        open.set(chunk.id, put({ type: "text", text: "", state: "streaming" }));
        break;
      case "reasoning-start": {
        const named = profile.namesReasoning ? { id: chunk.id } : {};
        open.set(chunk.id, put({ type: "reasoning", ...named, text: "", state: "streaming" }));
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
      case "tool-input-available": {
        const { toolCallId, toolName, input } = chunk;
        put({ type: `tool-${toolName}`, toolCallId, state: "input-available", input });
        break;
      }
      case "tool-input-error": {
        const { toolCallId, toolName, input, errorText } = chunk;
        const given = profile.keepsRawInput ? { rawInput: input } : { input };
        put({ type: `tool-${toolName}`, toolCallId, state: "output-error", ...given, errorText });
        break;
      }
      case "tool-approval-request":
        Object.assign(call(chunk.toolCallId), {
          state: "approval-requested",
          approval: { id: chunk.approvalId },
        });
        break;
      case "tool-approval-response": {
        const { approvalId, approved, reason } = chunk;
        const asked = parts.find(({ approval }) => isNamed(approval, approvalId)) ?? {};
        const why = reason === undefined ? {} : { reason };
        Object.assign(asked, {
          state: "approval-responded",
          approval: { id: approvalId, approved, ...why },
        });
        break;
      }
      case "tool-output-available":
        Object.assign(call(chunk.toolCallId), { state: "output-available", output: chunk.output });
        break;
      case "tool-output-error": {
        const { errorText } = chunk;
        Object.assign(call(chunk.toolCallId), { state: "output-error", errorText });
        break;
      }
      case "tool-output-denied":
        Object.assign(call(chunk.toolCallId), { state: "output-denied" });
        break;
      case "file":
      case "steering-message":
        put({ ...chunk });
        break;
      case "finish":
        metadata = chunk.messageMetadata;
        break;
      case "finish-step":
      case "reset-step":
      case "tool-input-start":
      case "tool-input-delta":
      case "abort":
      case "error":
        break;
      default:
        putData(parts, chunk);
    }
  }
  return {
    id,
    role: "assistant",
    ...(metadata === undefined ? {} : { metadata }),
    parts: parts as UiPart[],
  };
}

function putData(
  parts: Record<string, unknown>[],
  chunk: Extract<Chunk, { readonly data: Json }>,
): void {
  if (chunk.transient === true) return;
  const { type, id, data } = chunk;
  const known = parts.find((part) => part["type"] === type && part["id"] === id);
  if (known === undefined) parts.push({ type, id, data });
  else known["data"] = data;
}

function isNamed(approval: unknown, id: string): boolean {
  return (
    typeof approval === "object" && approval !== null && "id" in approval && approval.id === id
  );
}
