import type { Part, SessionState } from "@millrace/core";
import { inputItemIdOf } from "@millrace/core/writing";
import { saidMessages } from "./encode/said.ts";
import { Problem } from "@millrace/server/dialect";
import type { SaidMessage } from "./body.ts";

/** Those that the session has not. Throws `key_reused` for one that it has with other words. */
export function freshOf(
  said: readonly SaidMessage[],
  { items, queue }: SessionState,
): readonly SaidMessage[] {
  if (said.length === 0) return [];
  const known = new Map<string, unknown>();
  const note = (id: string, parts: readonly Part[]): void => {
    for (const message of saidMessages({ id: id as never, parts }, (hash) => hash))
      known.set(message.id, message.content);
  };
  for (const { id, author, parts } of items.toArray()) if (author === "user") note(id, parts);
  for (const { inputId, input } of queue)
    if ("parts" in input) note(inputItemIdOf(inputId), input.parts);
  return said.filter(({ message: { id, content }, pointer }) => {
    if (!known.has(id)) return true;
    if (typeof content === "string" && content !== known.get(id)) {
      const detail = "this message was sent with other words: give another one an id of its own";
      throw new Problem("key_reused", detail, { pointer });
    }
    return false;
  });
}
