import type { Part, SessionState } from "@millrace/core";
import { inputItemIdOf } from "@millrace/core/writing";
import { userMessages } from "./encode/user-messages.ts";
import { Problem } from "@millrace/server/dialect";
import type { NewMessage } from "./body.ts";

/** Those that the session has not. Throws `key_reused` for one that it has with other words. */
export function newMessages(
  messages: readonly NewMessage[],
  { items, queue }: SessionState,
): readonly NewMessage[] {
  if (messages.length === 0) return [];
  const stored = new Map<string, unknown>();
  const note = (id: string, parts: readonly Part[]): void => {
    for (const message of userMessages({ id: id as never, parts }, (hash) => hash))
      stored.set(message.id, message.content);
  };
  for (const { id, author, parts } of items.toArray()) if (author === "user") note(id, parts);
  for (const { inputId, input } of queue)
    if ("parts" in input) note(inputItemIdOf(inputId), input.parts);
  return messages.filter(({ message: { id, content }, pointer }) => {
    if (!stored.has(id)) return true;
    if (typeof content === "string" && content !== stored.get(id)) {
      const detail = "this message was sent with other words: give another one an id of its own";
      throw new Problem("key_reused", detail, { pointer });
    }
    return false;
  });
}
