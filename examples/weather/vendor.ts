// A vendor on this machine: replies in Anthropic's own bytes.

/** One content block: text in pieces, or a call whose arguments come in pieces. */
interface Block {
  readonly block: object;
  readonly deltas: readonly object[];
  readonly stop: string;
}

/** Text, one delta for each piece. */
export function text(...pieces: readonly string[]): Block {
  const deltas = pieces.map((piece) => ({ type: "text_delta", text: piece }));
  return { block: { type: "text", text: "" }, deltas, stop: "end_turn" };
}

/** A call of a tool, with its arguments in two halves. */
export function toolUse(id: string, name: string, input: object): Block {
  const json = JSON.stringify(input);
  const halves = [json.slice(0, json.length / 2), json.slice(json.length / 2)];
  const deltas = halves.map((half) => ({ type: "input_json_delta", partial_json: half }));
  return { block: { type: "tool_use", id, name, input: {} }, deltas, stop: "tool_use" };
}

/** A whole reply, as server-sent events. */
export function reply({ block, deltas, stop }: Block): string {
  const end = [
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  return unfinished({ block, deltas, stop }) + sse(end);
}

/** The beginning of a reply that never ends. */
export function unfinished({ block, deltas }: Block): string {
  const usage = { input_tokens: 9, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], model: "m" };
  return sse([
    { type: "message_start", message: { ...message, usage } },
    { type: "content_block_start", index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
  ]);
}

function sse(events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}
