// A vendor on this machine: replies as chat completions.

/** A text reply, piece by piece. */
export function text(...pieces: readonly string[]): string {
  return reply(
    pieces.map((content) => ({ content })),
    "stop",
  );
}

/** A call of a tool, with its arguments in two halves. */
export function toolCall(id: string, name: string, input: object): string {
  const json = JSON.stringify(input);
  const half = Math.floor(json.length / 2);
  const first = {
    index: 0,
    id,
    type: "function",
    function: { name, arguments: json.slice(0, half) },
  };
  const second = { index: 0, function: { arguments: json.slice(half) } };
  return reply([{ tool_calls: [first] }, { tool_calls: [second] }], "tool_calls");
}

/** The beginning of a reply that never ends. */
export function unfinished(content: string): string {
  return chunk({ choices: [{ index: 0, delta: { role: "assistant", content } }] });
}

function reply(deltas: readonly object[], finish_reason: string): string {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return [
    ...deltas.map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] })),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason }], usage }),
    "data: [DONE]\n\n",
  ].join("");
}

function chunk(fields: object): string {
  const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: "gpt-5.2" };
  return `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
}
