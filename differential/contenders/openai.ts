/** OpenAI's SDK: the helpers that accumulate a chat completion and a response. */
import OpenAI from "openai";
import type { ChatCompletionMessage } from "openai/resources/chat/completions";
import type { Response, ResponseOutputItem } from "openai/resources/responses/responses";
import { callOf, countsOf, failedReading, joinReasoning } from "../reading.ts";
import type { Reading } from "../reading.ts";
import type { Source } from "./contender.ts";

function clientOf(base: string): OpenAI {
  return new OpenAI({ apiKey: "k", baseURL: `${base}/v1`, maxRetries: 0, logLevel: "off" });
}

const chatStops: Readonly<Record<string, string>> = {
  stop: "end",
  tool_calls: "tools",
  function_call: "tools",
  length: "length",
  content_filter: "filtered",
};

/** The SDK's types have no field for reasoning. Its accumulator keeps fields that it does not know. */
interface Extended {
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
}

export async function readChat({ base, model }: Source): Promise<Reading> {
  const stream = clientOf(base).chat.completions.stream({
    model,
    messages: [{ role: "user", content: "go" }],
    stream_options: { include_usage: true },
  });
  const { choices, usage } = await stream.finalChatCompletion();
  const choice = choices[0];
  if (choice === undefined) return failedReading;
  const { message, finish_reason: reason } = choice;
  const { reasoning_content: content, reasoning } = message as Extended;
  return {
    failed: false,
    text: [message.content, message.refusal, message.audio?.transcript].join(""),
    reasoning: joinReasoning(textsIn([content, reasoning]).slice(0, 1)),
    calls: chatCalls(message),
    stop: chatStops[reason] ?? reason,
    usage: countsOf(usage?.prompt_tokens, usage?.completion_tokens, {
      cached: usage?.prompt_tokens_details?.cached_tokens,
      reasoning: usage?.completion_tokens_details?.reasoning_tokens,
    }),
  };
}

function textsIn(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === "string");
}

function chatCalls({
  tool_calls: calls = [],
  function_call: legacy,
}: ChatCompletionMessage): string[] {
  const modern = calls.map((call) =>
    call.type === "custom"
      ? customCall(call.custom.name, call.custom.input)
      : callOf(call.function.name, call.function.arguments),
  );
  return legacy ? [...modern, callOf(legacy.name, legacy.arguments)] : modern;
}

/** A custom tool takes free text, which Millrace hands over as the field `input`. */
function customCall(name: string, input: string): string {
  return callOf(name, JSON.stringify({ input }));
}

export async function readResponse({ base, model }: Source): Promise<Reading> {
  const response = await clientOf(base).responses.stream({ model, input: "go" }).finalResponse();
  const { status, output, usage } = response;
  if (status === "failed") return failedReading;
  return {
    failed: false,
    text: output.flatMap(textIn).join(""),
    reasoning: joinReasoning(output.flatMap(reasoningIn)),
    calls: output.flatMap(callIn),
    stop: responseStop(response),
    usage: countsOf(usage?.input_tokens, usage?.output_tokens, {
      cached: usage?.input_tokens_details?.cached_tokens,
      reasoning: usage?.output_tokens_details?.reasoning_tokens,
    }),
  };
}

function textIn(item: ResponseOutputItem): string[] {
  if (item.type !== "message") return [];
  return item.content.map((part) => (part.type === "refusal" ? part.refusal : part.text));
}

function reasoningIn(item: ResponseOutputItem): string[] {
  if (item.type !== "reasoning") return [];
  const shown = item.summary.length > 0 ? item.summary : (item.content ?? []);
  return shown.map(({ text }) => text);
}

function callIn(item: ResponseOutputItem): string[] {
  if (item.type === "custom_tool_call") return [customCall(item.name, item.input)];
  return item.type === "function_call" ? [callOf(item.name, item.arguments)] : [];
}

const incomplete: Readonly<Record<string, string>> = {
  max_output_tokens: "length",
  max_messages: "length",
  content_filter: "filtered",
  steered: "paused",
};

/** The API has no reason for calls: a completed response that holds some waits for their results. */
function responseStop({ status, incomplete_details: details, output }: Response): string {
  if (status === "incomplete") return incomplete[details?.reason ?? ""] ?? details?.reason ?? "";
  const waits = output.some(({ type }) => type === "function_call" || type === "custom_tool_call");
  return status === "completed" ? (waits ? "tools" : "end") : (status ?? "");
}
