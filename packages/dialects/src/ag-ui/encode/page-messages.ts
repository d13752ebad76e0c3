import { isJsonObject } from "@millrace/core/wire";
import type { AgUiMessage } from "./events.ts";

/** A message as a page sends it back. */
export interface PageMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?: unknown;
  readonly toolCallId?: unknown;
}

/**
 * Whether a page holds all of these messages, so that it can be sent what follows. Activities are never sent back,
 * and not all pages send reasoning. Of a result the page may have its own words: it carried out the call.
 */
export function hasMessages(
  page: readonly PageMessage[],
  messages: readonly AgUiMessage[],
): boolean {
  const held = new Map(page.map((message) => [message.id, message]));
  const results = new Set(page.map(({ toolCallId }) => toolCallId));
  return messages.every((message) => {
    const same = held.get(message.id);
    switch (message.role) {
      case "activity":
        return true;
      case "tool":
        return results.has(message.toolCallId);
      case "user":
        return same !== undefined;
      case "reasoning":
        return same === undefined || same.content === message.content;
      case "assistant":
        if (message.toolCalls === undefined) return same?.content === message.content;
        return argumentsOf(same) === message.toolCalls[0]?.function.arguments;
      default:
        message satisfies never;
        return false;
    }
  });
}

/** The arguments of a message's one call. */
function argumentsOf(message: PageMessage | undefined): unknown {
  const calls: unknown = message?.toolCalls;
  const call: unknown = Array.isArray(calls) ? calls[0] : undefined;
  const asked = isJsonObject(call) ? call["function"] : undefined;
  return isJsonObject(asked) ? asked["arguments"] : undefined;
}
