import type { Item, Json, JsonObject, ViewItem, ViewPart, ViewToolCall } from "@millrace/core";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import { urlOf } from "../../shared/encode/file-url.ts";
import type { RunRecord } from "../../shared/encode/run-record.ts";
import { visibleItems } from "../../shared/encode/sent-items.ts";
import type { AgUiMessage } from "./events.ts";
import { userMessages } from "./user-messages.ts";

/**
 * The message of a part: messages have content of one kind each, so every part is one. It names a call too: a page
 * finds a call among those of all runs by its name alone, and the ids of vendors may come again.
 */
export function messageIdOf(itemId: string, at: number): string {
  return `${itemId}.${at}`;
}

/** The name of a call, of the items that hold it. Undefined: they do not. */
export function callNameOf(
  items: readonly Item[],
  itemId: string | undefined,
  callId: string,
): string | undefined {
  const holder = items.findLast(({ id }) => id === itemId);
  const at = (holder?.parts ?? []).findIndex(
    (part) => part.kind === "tool_call" && part.callId === callId,
  );
  return holder === undefined || at < 0 ? undefined : messageIdOf(holder.id, at);
}

/** With the name that our own routes have for a call. */
export function callMetadata(callId: string): JsonObject {
  return { millrace: { callId } };
}

/** The message of what a call came to. */
export function resultIdOf(messageId: string): string {
  return `${messageId}.result`;
}

/** The messages of a run as it is now: what a reader is to hold. */
export function runMessages(record: RunRecord, blobUrl: BlobUrl): readonly AgUiMessage[] {
  const messages: AgUiMessage[] = [];
  for (const item of visibleItems(record.state)) {
    if (item.author === "user") messages.push(...noteMessages(item, record, blobUrl));
    else messages.push(...itemMessages(item, blobUrl));
    if (item.live) break; // what comes after it is shown after it
  }
  return messages;
}

/** What a person sent while the run was on. */
export function noteMessages(
  { id }: ViewItem,
  { state }: RunRecord,
  blobUrl: BlobUrl,
): readonly AgUiMessage[] {
  const stored = state.items.toArray().find((item) => item.id === id);
  return stored === undefined ? [] : userMessages(stored, blobUrl);
}

function itemMessages({ id, parts }: ViewItem, blobUrl: BlobUrl): readonly AgUiMessage[] {
  const messages: AgUiMessage[] = [];
  for (const [at, part] of parts.entries()) {
    const messageId = messageIdOf(id, at);
    switch (part.kind) {
      case "text":
        messages.push({ id: messageId, role: "assistant", content: part.text });
        break;
      case "reasoning":
        messages.push({ id: messageId, role: "reasoning", content: part.text });
        break;
      case "tool_call": {
        const asked = { name: part.tool, arguments: argumentsOf(part) };
        const metadata = callMetadata(part.callId);
        const call = { id: messageId, type: "function", function: asked, metadata } as const;
        messages.push({ id: messageId, role: "assistant", toolCalls: [call] });
        const came = outcomeOf(part);
        if (came !== undefined)
          messages.push({
            id: resultIdOf(messageId),
            role: "tool",
            toolCallId: messageId,
            ...came,
          });
        break;
      }
      case "opaque":
        break;
      case "media":
      case "file":
      case "structured":
      case "custom": {
        const activity = activityOf(part, blobUrl);
        if (activity === undefined) return messages; // what follows it waits for it
        messages.push({ id: messageId, role: "activity", ...activity });
        break;
      }
      default:
        part satisfies never;
    }
  }
  return messages;
}

/** A part that has no words of its own in the dialect. Undefined: nothing to show yet. */
export function activityOf(
  part: Extract<ViewPart, { kind: "media" | "file" | "structured" | "custom" }>,
  blobUrl: BlobUrl,
): Pick<Extract<AgUiMessage, { role: "activity" }>, "activityType" | "content"> | undefined {
  if (part.kind === "structured" || part.kind === "custom") {
    if (part.value === undefined) return undefined;
    const activityType = part.kind === "custom" ? part.name : part.kind;
    return { activityType, content: { value: part.value } };
  }
  const url = part.live ? undefined : urlOf(part, blobUrl);
  if (url === undefined) return undefined;
  const name = part.kind === "file" ? { name: part.name } : {};
  return { activityType: "file", content: { url, mediaType: part.mediaType, ...name } };
}

/** The arguments to the letter, as far as they have come. Readers parse them, so a call without any has `{}`. */
export function argumentsOf({ raw, input }: ViewToolCall): string {
  return raw === "" && input !== undefined ? JSON.stringify(input) : raw;
}

/** What a call came to, as the message of a tool. A call that did not go well says how in its metadata. */
export function outcomeOf(
  call: ViewToolCall,
): Pick<Extract<AgUiMessage, { role: "tool" }>, "content" | "metadata"> | undefined {
  const not = (status: string, content: string): ReturnType<typeof outcomeOf> => ({
    content,
    metadata: { millrace: { status } },
  });
  switch (call.state) {
    case "writing":
    case "waiting":
    case "running":
      return undefined;
    case "finished":
      return { content: contentOf(call.output) };
    case "denied":
      return not("denied", call.reason ?? "It was denied.");
    case "failed":
    case "unknown":
      return not(call.state, call.message);
    default:
      call satisfies never;
      return undefined;
  }
}

function contentOf(output: Json): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}
