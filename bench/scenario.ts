/**
 * Vendors' streams that are the same in each run. A scenario is named by the model that is asked for,
 * so that any client can ask for it:
 *
 *     text-20000         plain text, chat completions
 *     tools-10x2000      ten interleaved calls of 2,000 fragments each, chat completions
 *     call-1x10000       one call
 *     anthropic-20000    a quarter thinking, half text, a quarter one call, Anthropic Messages
 */
export interface Scenario {
  readonly dialect: "openai-chat" | "anthropic-messages";
  readonly events: readonly string[];
  /** Deltas with content. Costs are per delta. */
  readonly chunks: number;
  readonly expected: Outcome;
}

/** The reply that a contender read from a stream. */
export interface Outcome {
  readonly text: string;
  readonly thinking: string;
  /** Arguments as text or as a value; values are compared. */
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
}

export function scenario(model: string): Scenario {
  const [, family = "", first = "", second] = /^([a-z]+)-(\d+)(?:x(\d+))?$/.exec(model) ?? [];
  if (family === "text") return textScenario(Number(first));
  if (family === "anthropic") return anthropicScenario(Number(first));
  if (second !== undefined) return callScenario(Number(first), Number(second));
  throw new Error(`there is no scenario ${model}`);
}

function textScenario(chunks: number): Scenario {
  const pieces = textPieces(chunks, 1);
  const events = [
    chat({ role: "assistant", content: "", refusal: null }),
    ...pieces.map((content) => chat({ content })),
    chat({}, "stop"),
    ...chatEnd(chunks),
  ];
  const expected = { text: pieces.join(""), thinking: "", calls: [] };
  return { dialect: "openai-chat", events, chunks, expected };
}

function callScenario(calls: number, fragments: number): Scenario {
  const written = Array.from({ length: calls }, (_, call) => callArguments(call, fragments));
  const begin = (index: number): string => {
    const named = { name: "write_file", arguments: "" };
    const id = `call_${index}abcdefghijklmnopqrst`;
    return chat({ tool_calls: [{ index, id, type: "function", function: named }] });
  };
  const events = [chat({ role: "assistant", content: null }), ...written.map((_, at) => begin(at))];
  for (let at = 0; at < fragments; at += 1) {
    for (const [index, { pieces }] of written.entries()) {
      events.push(chat({ tool_calls: [{ index, function: { arguments: pieces[at] } }] }));
    }
  }
  events.push(chat({}, "tool_calls"), ...chatEnd(calls * fragments));
  return {
    dialect: "openai-chat",
    events,
    chunks: calls * fragments,
    expected: { text: "", thinking: "", calls: written.map(({ json }) => writeFile(json)) },
  };
}

function anthropicScenario(chunks: number): Scenario {
  const thinking = textPieces(chunks >> 2, 3);
  const text = textPieces(chunks >> 1, 4);
  const call = callArguments(0, chunks - thinking.length - text.length);
  const block = (index: number, content: object, deltas: readonly object[]): readonly string[] => [
    anthropic("content_block_start", { index, content_block: content }),
    ...deltas.map((delta) => anthropic("content_block_delta", { index, delta })),
    anthropic("content_block_stop", { index }),
  ];
  const signature = { type: "signature_delta", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrk" };
  const tool = {
    type: "tool_use",
    id: "toolu_01ABCDEFGHIJKLMNOPQRSTUV",
    name: "write_file",
    input: {},
  };
  const stop = { stop_reason: "tool_use", stop_sequence: null };
  const events = [
    anthropic("message_start", { message: anthropicHead }),
    ...block(0, { type: "thinking", thinking: "", signature: "" }, [
      ...thinking.map((piece) => ({ type: "thinking_delta", thinking: piece })),
      signature,
    ]),
    anthropic("ping", {}),
    ...block(
      1,
      { type: "text", text: "" },
      text.map((piece) => ({ type: "text_delta", text: piece })),
    ),
    ...block(
      2,
      tool,
      call.pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    ),
    anthropic("message_delta", { delta: stop, usage: { output_tokens: chunks } }),
    anthropic("message_stop", {}),
  ];
  const expected = {
    text: text.join(""),
    thinking: thinking.join(""),
    calls: [writeFile(call.json)],
  };
  return { dialect: "anthropic-messages", events, chunks, expected };
}

const chatHead = {
  id: "chatcmpl-BxYz0123456789abcdefghijkl",
  object: "chat.completion.chunk",
  created: 1_763_000_000,
  model: "gpt-4.1-2025-04-14",
  service_tier: "default",
  system_fingerprint: "fp_0123456789",
};

const anthropicHead = {
  id: "msg_01ABCDEFGHIJKLMNOPQRSTUV",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: {
    input_tokens: 12,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 1,
  },
};

function chat(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...chatHead, choices })}\n\n`;
}

function chatEnd(tokens: number): readonly string[] {
  const usage = { prompt_tokens: 12, completion_tokens: tokens, total_tokens: tokens + 12 };
  return [`data: ${JSON.stringify({ ...chatHead, choices: [], usage })}\n\n`, "data: [DONE]\n\n"];
}

function anthropic(type: string, body: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}

function writeFile(json: string): { readonly name: string; readonly input: unknown } {
  return { name: "write_file", input: JSON.parse(json) };
}

const words =
  ' the| of| stream|ing| and| to|ed| fold| is| a|.|,| delta|\n| "quo|te"| \u00e9| \u4e2d| tok|en| part|()| =>| {| }| 42| agent|s| in| for'.split(
    "|",
  );

function textPieces(count: number, seed: number): readonly string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => words[Math.floor(random() * words.length)] as string);
}

/** Arguments of about six characters a fragment. */
function callArguments(call: number, count: number): { json: string; pieces: readonly string[] } {
  const content = textPieces(Math.ceil((count * 6) / 3.2), 7 + call * 101)
    .join("")
    .slice(0, count * 6);
  const edits = [
    { line: 1, ok: true },
    { line: 22, ok: false },
  ];
  const json = JSON.stringify({ path: `src/mod/file${call}.ts`, mode: "write", content, edits });
  const size = json.length / count;
  const pieces = Array.from({ length: count }, (_, at) =>
    json.slice(Math.round(at * size), Math.round((at + 1) * size)),
  );
  return { json, pieces };
}

function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
