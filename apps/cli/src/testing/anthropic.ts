/** A whole reply as Anthropic sends it, one event for each word. */
export function anthropicReply(text: string): string {
  const usage = { input_tokens: 9, output_tokens: 1 };
  const head = { id: "msg_1", type: "message", role: "assistant", model: "m" };
  const message = { ...head, content: [], usage };
  const words = text.match(/\S+\s*/g) ?? [];
  const events: readonly object[] = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...words.map((word) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: word },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}
