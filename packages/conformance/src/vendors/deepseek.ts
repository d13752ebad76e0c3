import type { JsonObject } from "@millrace/core";
import { canonical, objectAt, objectsAt, readObject, textAt, without } from "./json.ts";
import { createVendor, Ledger } from "./ledger.ts";
import { PrefixCache } from "./prefix-cache.ts";
import type { PrefixUse } from "./prefix-cache.ts";
import { refuse } from "./refusal.ts";
import { replySize } from "./reply-size.ts";
import { eventResponse, pieces, plainEvents } from "./sse.ts";
import type { AcceptedRequest, PlainReply, StrictVendor, StrictVendorOptions } from "./vendor.ts";

/** How long a prefix is cached. The vendor names hours to days. */
const ttlMs = 3_600_000;

/**
 * DeepSeek's chat completions. Messages with calls need their `reasoning_content` in every later request
 * while the model thinks. Prompts are cached by prefix, in steps of 64 tokens.
 */
export function strictDeepseek({ now, leastCached = 64 }: StrictVendorOptions): StrictVendor {
  const ledger = new Ledger();
  const cache = new PrefixCache({ step: 64, least: leastCached });
  let accepted = 0;
  return createVendor({
    ledger,
    respond: (request, reply) => {
      const [path = ""] = request.path.split("?");
      if (!path.endsWith("/chat/completions")) refuse("Not Found", { status: 404 });
      const body = readObject(request.body);
      const messages = objectsAt(body, "messages");
      const model = textAt(body, "model") ?? refuse("Model Not Exist");
      if (body["stream"] !== true) refuse("This stand-in streams its replies only: set `stream`.");
      checkMessages(messages);
      const isThinking = thinks(body, model);
      if (isThinking) checkReasoning(messages);
      const use = cache.use(model, promptOf(body, messages), { now: now(), ttlMs });
      ledger.charge({ plain: use.total - use.read, read: use.read, write: 0 });
      accepted += 1;
      const scripted = reply(acceptedRequest({ number: accepted, model, body, messages }));
      const chunks = chunksOf(scripted, { id: accepted, model, use, isThinking });
      return eventResponse(`${plainEvents(chunks)}data: [DONE]\n\n`);
    },
    encodeError: ({ message }) => ({
      body: {
        error: {
          message,
          type: "invalid_request_error",
          param: null,
          code: "invalid_request_error",
        },
      },
    }),
  });
}

/** Thinking is on unless the request turns it off. */
function thinks(body: JsonObject, model: string): boolean {
  const type = textAt(objectAt(body, "thinking"), "type");
  return type === undefined ? model !== "deepseek-chat" : type !== "disabled";
}

const roles = ["system", "user", "assistant", "tool"];

function checkMessages(messages: readonly JsonObject[]): void {
  if (messages.length === 0) refuse("Empty input messages");
  const open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    const role = textAt(message, "role") ?? "";
    if (!roles.includes(role)) {
      refuse(
        `Failed to deserialize the JSON body into the target type: messages[${at}].role: unknown variant \`${role}\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\``,
      );
    }
    if (role === "tool") {
      if (open.delete(textAt(message, "tool_call_id") ?? "")) continue;
      refuse(
        "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
      );
    }
    checkAnswered(open);
    for (const call of objectsAt(message, "tool_calls")) open.add(textAt(call, "id") ?? "");
  }
  checkAnswered(open);
}

function checkAnswered(open: ReadonlySet<string>): void {
  if (open.size === 0) return;
  refuse(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
  );
}

/** The field must be there. It may be empty, as the vendor itself sends it at times. */
function checkReasoning(messages: readonly JsonObject[]): void {
  for (const message of messages) {
    if (objectsAt(message, "tool_calls").length === 0) continue;
    if (typeof message["reasoning_content"] === "string") continue;
    refuse("The `reasoning_content` in the thinking mode must be passed back to the API.");
  }
}

/** The prompt as text. The model reads reasoning again only where it led to calls. */
function promptOf(body: JsonObject, messages: readonly JsonObject[]): string {
  const rows = messages.map((message) =>
    canonical(
      message["tool_calls"] === undefined ? without(message, "reasoning_content") : message,
    ),
  );
  return [canonical(body["tools"] ?? []), ...rows].join("\n");
}

interface ReplyFacts {
  readonly id: number;
  readonly model: string;
  readonly use: PrefixUse;
  readonly isThinking: boolean;
}

function chunksOf(
  scripted: PlainReply,
  { id, model, use, isThinking }: ReplyFacts,
): readonly JsonObject[] {
  const { think, text = "", calls = [] } = scripted;
  const base = { id: `chat-${id}`, object: "chat.completion.chunk", created: 0, model };
  const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }],
  });
  const reasoning = typeof think === "string" ? pieces(think) : [];
  return [
    chunk({ role: "assistant", content: null, ...(isThinking ? { reasoning_content: "" } : {}) }),
    ...reasoning.map((piece) => chunk({ content: null, reasoning_content: piece })),
    ...pieces(text).map((piece) => chunk({ content: piece })),
    ...calls.map((call, index) =>
      chunk({
        tool_calls: [
          {
            index,
            id: call.id ?? `call_${id}_${index}`,
            type: "function",
            function: { name: call.name, arguments: JSON.stringify(call.input) },
          },
        ],
      }),
    ),
    {
      ...chunk({ content: "" }, { finish_reason: finishReason(scripted) }),
      usage: usageOf(scripted, use),
    },
  ];
}

function finishReason({ stop, calls = [] }: PlainReply): string {
  if (stop === "length") return "length";
  if (stop === "filtered") return "content_filter";
  return calls.length > 0 ? "tool_calls" : "stop";
}

function usageOf(scripted: PlainReply, { total, read }: PrefixUse): JsonObject {
  const { thinking, written } = replySize(scripted);
  return {
    prompt_tokens: total,
    completion_tokens: thinking + written,
    total_tokens: total + thinking + written,
    prompt_tokens_details: { cached_tokens: read },
    completion_tokens_details: { reasoning_tokens: thinking },
    prompt_cache_hit_tokens: read,
    prompt_cache_miss_tokens: total - read,
  };
}

interface Read {
  readonly number: number;
  readonly model: string;
  readonly body: JsonObject;
  readonly messages: readonly JsonObject[];
}

function acceptedRequest({ number, model, body, messages }: Read): AcceptedRequest {
  const instructions = messages
    .filter(({ role }) => role === "system")
    .map(textOf)
    .join("\n");
  const last = messages.at(-1);
  const format = textAt(objectAt(body, "response_format"), "type") ?? "text";
  return {
    number,
    model,
    instructions,
    lastUserText: last?.["role"] === "user" ? textOf(last) : "",
    answersCalls: last?.["role"] === "tool",
    tools: objectsAt(body, "tools").flatMap(
      (tool) => textAt(objectAt(tool, "function"), "name") ?? [],
    ),
    wantsJson: format !== "text" || instructions.includes("JSON Schema"),
    wantsSummary: false,
    body,
  };
}

function textOf(message: JsonObject): string {
  const content = message["content"];
  if (typeof content === "string") return content;
  return objectsAt(message, "content")
    .flatMap((part) => textAt(part, "text") ?? [])
    .join("\n");
}
