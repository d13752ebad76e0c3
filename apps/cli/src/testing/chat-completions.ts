/** A whole reply as servers of chat completions send it, one event for each word. */
export function chatCompletionsReply(text: string): string {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
  const words = text.match(/\S+\s*/g) ?? [];
  const choice = (delta: object, finish: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const usage = { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 };
  const events: readonly object[] = [
    choice({ role: "assistant", content: "" }),
    ...words.map((word) => choice({ content: word })),
    choice({}, "stop"),
    { ...head, choices: [], usage },
  ];
  const data = [...events.map((event) => JSON.stringify(event)), "[DONE]"];
  return data.map((line) => `data: ${line}\n\n`).join("");
}
