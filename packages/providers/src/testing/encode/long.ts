import type { JsonObject } from "@millrace/core";
import { awsChunk, awsEvent, joined } from "./aws-event-stream.ts";

export type LongKind = "text" | "arguments";

/** A reply in one-character deltas, in chunks as a socket gives them. `size` counts the deltas. */
export function longStream(dialect: string, kind: LongKind, size: number): readonly Uint8Array[] {
  const write = writers[dialect];
  if (write === undefined) throw new TypeError(`no long streams of ${dialect}`);
  const bytes = framed(dialect, write(kind, letters(kind, size)));
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 65_536) chunks.push(bytes.subarray(at, at + 65_536));
  return chunks;
}

function framed(dialect: string, events: readonly JsonObject[]): Uint8Array {
  if (dialect === "bedrock-anthropic") {
    return joined(events.map((event) => awsChunk(JSON.stringify(event))));
  }
  if (dialect === "bedrock-converse") {
    return joined(
      events.flatMap((event) =>
        Object.entries(event).map(([name, data]) => awsEvent(name, JSON.stringify(data))),
      ),
    );
  }
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new TextEncoder().encode(text);
}

/** The characters. Those of arguments are an object with many fields, strings and braces. */
function letters(kind: LongKind, size: number): readonly string[] {
  if (kind === "text") {
    return Array.from({ length: size }, (_, at) => String.fromCharCode(97 + (at % 26)));
  }
  const row = String.raw`"x{\"y","z\\",[1,{"a":"b}"}],`;
  const inner = row.repeat(Math.ceil(size / row.length)).slice(0, size - 20);
  const whole = inner.slice(0, inner.lastIndexOf("],") + 1);
  return `{"rows":[${whole}]}`.padEnd(size, " ").split("");
}

type Write = (kind: LongKind, letters: readonly string[]) => readonly JsonObject[];

const writers: Readonly<Record<string, Write>> = {
  "openai-chat": chat,
  "openai-responses": responses,
  "anthropic-messages": anthropic,
  gemini,
  "bedrock-converse": converse,
  "bedrock-anthropic": anthropic,
};

/** Each event under its name, which is in a header of its message. */
function converse(kind: LongKind, letters: readonly string[]): readonly JsonObject[] {
  const start = { toolUse: { toolUseId: "t_1", name: "f" } };
  return [
    { messageStart: { role: "assistant" } },
    ...(kind === "text" ? [] : [{ contentBlockStart: { contentBlockIndex: 0, start } }]),
    ...letters.map((letter) => ({
      contentBlockDelta: {
        contentBlockIndex: 0,
        delta: kind === "text" ? { text: letter } : { toolUse: { input: letter } },
      },
    })),
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: kind === "text" ? "end_turn" : "tool_use" } },
  ];
}

function chat(kind: LongKind, letters: readonly string[]): readonly JsonObject[] {
  const chunk = (delta: JsonObject, reason: string | null = null): JsonObject => ({
    id: "chatcmpl-1",
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const call = { index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "" } };
  return [
    ...(kind === "text" ? [] : [chunk({ tool_calls: [call] })]),
    ...letters.map((letter) =>
      kind === "text"
        ? chunk({ content: letter })
        : chunk({ tool_calls: [{ index: 0, function: { arguments: letter } }] }),
    ),
    chunk({}, kind === "text" ? "stop" : "tool_calls"),
  ];
}

function responses(kind: LongKind, letters: readonly string[]): readonly JsonObject[] {
  const whole = letters.join("");
  const place = { item_id: "i_1", output_index: 0 };
  const type = kind === "text" ? "response.output_text" : "response.function_call_arguments";
  const extra: JsonObject = kind === "text" ? { content_index: 0 } : {};
  const item = (text: string): JsonObject =>
    kind === "text"
      ? { id: "i_1", type: "message", role: "assistant", content: content(text) }
      : { id: "i_1", type: "function_call", call_id: "call_1", name: "f", arguments: text };
  const content = (text: string): readonly JsonObject[] =>
    text === "" ? [] : [{ type: "output_text", text, annotations: [] }];
  const events: readonly JsonObject[] = [
    { type: "response.output_item.added", output_index: 0, item: item("") },
    ...letters.map((delta) => ({ type: `${type}.delta`, ...place, ...extra, delta })),
    { type: "response.output_item.done", output_index: 0, item: item(whole) },
    {
      type: "response.completed",
      response: { id: "resp_1", status: "completed", output: [item(whole)] },
    },
  ];
  return events.map((event, at) => ({ ...event, sequence_number: at }));
}

function anthropic(kind: LongKind, letters: readonly string[]): readonly JsonObject[] {
  const block: JsonObject =
    kind === "text"
      ? { type: "text", text: "" }
      : { type: "tool_use", id: "t_1", name: "f", input: {} };
  return [
    { type: "message_start", message: { id: "msg_1", role: "assistant", content: [], usage: {} } },
    { type: "content_block_start", index: 0, content_block: block },
    ...letters.map((letter) => ({
      type: "content_block_delta",
      index: 0,
      delta:
        kind === "text"
          ? { type: "text_delta", text: letter }
          : { type: "input_json_delta", partial_json: letter },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: kind === "text" ? "end_turn" : "tool_use" } },
    { type: "message_stop" },
  ];
}

/** Calls as Vertex streams them: the letters are those of one long string. */
function gemini(kind: LongKind, letters: readonly string[]): readonly JsonObject[] {
  const chunk = (part: JsonObject, finish: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { role: "model", parts: [part] }, ...finish }],
  });
  const piece = (letter: string): JsonObject => {
    if (kind === "text") return { text: letter };
    const partialArgs = [{ jsonPath: "$.text", stringValue: letter, willContinue: true }];
    return { functionCall: { partialArgs, willContinue: true } };
  };
  const end = { jsonPath: "$.text", stringValue: "" };
  return [
    ...(kind === "text" ? [] : [chunk({ functionCall: { name: "f", willContinue: true } })]),
    ...letters.map((letter) => chunk(piece(letter))),
    ...(kind === "text" ? [] : [chunk({ functionCall: { partialArgs: [end] } })]),
    { candidates: [{ finishReason: "STOP" }] },
  ];
}
