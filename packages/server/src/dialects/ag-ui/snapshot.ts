import type { MessagesSnapshot } from "./events.ts";

/**
 * What makes a reader hold these messages and no others, in this order. A snapshot alone changes messages in
 * place, adds at the end, and lets reasoning and activities stay if it has none itself. `isAnew`: the reader
 * may hold such ones. Then it is sent one of each instead of all, and these as plain messages, which go.
 */
export function* snapshotOf(
  all: Omit<MessagesSnapshot, "type">,
  isAnew: boolean,
): Generator<MessagesSnapshot, void, undefined> {
  const only = (messages: MessagesSnapshot["messages"]): MessagesSnapshot => ({
    type: "MESSAGES_SNAPSHOT",
    before: "",
    messages,
    after: "",
  });
  const [first, second] = ["millrace.cleared.1", "millrace.cleared.2"] as const;
  if (isAnew) {
    yield only([
      { id: first, role: "activity", activityType: "millrace.cleared", content: {} },
      { id: second, role: "reasoning", content: "" },
    ]);
    yield only([
      { id: first, role: "assistant", content: "" },
      { id: second, role: "assistant", content: "" },
    ]);
  }
  yield { type: "MESSAGES_SNAPSHOT", ...all };
}
