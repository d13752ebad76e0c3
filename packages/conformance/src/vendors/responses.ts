import type { JsonObject } from "@millrace/core";
import { canonical, objectAt, readObject, textAt, without } from "./json.ts";
import { createVendor, Ledger } from "./ledger.ts";
import {
  checkItems,
  checkTools,
  isOfModel,
  itemType,
  messageText,
  readResponsesBody,
} from "./openai/items.ts";
import type { ResponsesBody } from "./openai/items.ts";
import { checkReasoning, sealReasoning } from "./openai/reasoning.ts";
import { responseEvents } from "./openai/response-events.ts";
import { PrefixCache } from "./prefix-cache.ts";
import type { PrefixUse } from "./prefix-cache.ts";
import { refuse } from "./refusal.ts";
import { replySize, thinkingTokens } from "./reply-size.ts";
import { eventResponse, namedEvents } from "./sse.ts";
import type { AcceptedRequest, PlainReply, StrictVendor, StrictVendorOptions } from "./vendor.ts";

/**
 * OpenAI's Responses API. Encrypted reasoning belongs to an organisation and stands before the item that
 * it led to; calls and outputs are pairs; tools are added by items. Prompts are cached by exact prefix.
 */
export function strictResponses(options: StrictVendorOptions): StrictVendor {
  const api = new ResponsesApi(options);
  return createVendor({
    ledger: api.ledger,
    respond: (request, reply) => {
      const [path = ""] = request.path.split("?");
      if (!path.endsWith("/responses")) refuse("Not Found", { status: 404 });
      const fields = readObject(request.body);
      if (fields["stream"] !== true)
        refuse("This stand-in streams its replies only: set 'stream'.");
      return eventResponse(namedEvents(api.respond(readResponsesBody(fields), reply)));
    },
    encodeError: ({ message, code }) => ({
      body: { error: { message, type: "invalid_request_error", param: null, code: code ?? null } },
    }),
  });
}

class ResponsesApi {
  readonly ledger = new Ledger();
  readonly #organisation: string;
  readonly #now: () => number;
  readonly #cache: PrefixCache;
  readonly #reasoningOf = new Map<string, string>();
  #accepted = 0;

  constructor({ account = "account", now, leastCached = 1024 }: StrictVendorOptions) {
    this.#organisation = account;
    this.#now = now;
    this.#cache = new PrefixCache({ step: 128, least: leastCached });
  }

  respond(
    body: ResponsesBody,
    script: (request: AcceptedRequest) => PlainReply,
  ): readonly JsonObject[] {
    checkItems(body);
    const tools = checkTools(body);
    const context = { organisation: this.#organisation, reasoningOf: this.#reasoningOf };
    const dropped = checkReasoning(body, context);
    this.ledger.dropped.push(...dropped);
    const use = this.#use(body, new Set(dropped.map(({ path }) => path)));
    const write = writesAreBilled(body.model) ? use.added : 0;
    this.ledger.charge({ plain: use.total - use.read - write, read: use.read, write });
    this.#accepted += 1;
    const scripted = script(acceptedRequest(body, { number: this.#accepted, tools }));
    return responseEvents({
      id: `resp_${this.#accepted}`,
      model: body.model,
      items: this.#items(scripted, body),
      stop: scripted.stop === "paused" ? undefined : scripted.stop,
      usage: usageOf(scripted, use, write),
    });
  }

  #use(body: ResponsesBody, dropped: ReadonlySet<string>): PrefixUse {
    const { fields, model } = body;
    const key = textAt(fields, "prompt_cache_key") ?? "";
    const isLong = textAt(objectAt(fields, "prompt_cache_options"), "ttl") === "12h";
    const ttlMs = (isLong ? 12 * 60 : 30) * 60_000;
    return this.#cache.use(`${model} ${key}`, promptOf(body, dropped), { now: this.#now(), ttlMs });
  }

  #items({ think, text, calls = [] }: PlainReply, { model }: ResponsesBody): readonly JsonObject[] {
    const n = this.#accepted;
    const message = {
      id: `msg_${n}`,
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: text ?? "", annotations: [], logprobs: [] }],
    };
    const items: readonly JsonObject[] = [
      ...(text === undefined ? [] : [message]),
      ...calls.map((call, at) => ({
        id: `fc_${n}_${at}`,
        type: "function_call",
        status: "completed",
        call_id: call.id ?? `call_${n}_${at}`,
        name: call.name,
        arguments: JSON.stringify(call.input),
      })),
    ];
    if (think === undefined) return items;
    const id = `rs_${n}`;
    const next = textAt(items[0], "id") ?? "";
    this.#reasoningOf.set(next, id);
    const tokens = thinkingTokens(think);
    const sealed = sealReasoning({ model, id, next, tokens }, this.#organisation);
    const summary = think === true ? [] : [{ type: "summary_text", text: think }];
    return [{ id, type: "reasoning", summary, encrypted_content: sealed }, ...items];
  }
}

/** From GPT-5.6 on, what is written to the cache is billed. */
function writesAreBilled(model: string): boolean {
  const [, major = "0", minor = "0"] = /gpt-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  return Number(major) > 5 || (Number(major) === 5 && Number(minor) >= 6);
}

/** The prompt as text, in the order in which the vendor compares it. Ids and states are not part of it. */
function promptOf({ fields, items }: ResponsesBody, dropped: ReadonlySet<string>): string {
  const head = canonical([
    fields["tools"] ?? [],
    objectAt(fields, "text")?.["format"] ?? null,
    objectAt(fields, "reasoning")?.["effort"] ?? null,
    fields["instructions"] ?? null,
  ]);
  const sent = items.filter((_, at) => !dropped.has(`input[${at}]`));
  return [head, ...sent.map((item) => canonical(without(item, "id", "status")))].join("\n");
}

function usageOf(scripted: PlainReply, { total, read }: PrefixUse, write: number): JsonObject {
  const { thinking, written } = replySize(scripted);
  return {
    input_tokens: total,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: write },
    output_tokens: thinking + written,
    output_tokens_details: { reasoning_tokens: thinking },
    total_tokens: total + thinking + written,
  };
}

function acceptedRequest(
  body: ResponsesBody,
  { number, tools }: { readonly number: number; readonly tools: readonly string[] },
): AcceptedRequest {
  const { fields, model, items } = body;
  const appended = items.filter(({ role }) => role === "developer" || role === "system");
  const instructions = [textAt(fields, "instructions") ?? "", ...appended.map(messageText)]
    .filter((text) => text !== "")
    .join("\n");
  const last = items.slice(items.findLastIndex(isOfModel) + 1);
  const users = last.filter(({ role }) => role === "user");
  // Each update of the settings replaces the one before it.
  const formats = [fields, ...items.filter((item) => itemType(item) === "configuration_update")]
    .map((from) => textAt(objectAt(objectAt(from, "text"), "format"), "type"))
    .filter((type) => type !== undefined);
  const format = formats.at(-1) ?? "text";
  return {
    number,
    model,
    instructions,
    lastUserText: users.map(messageText).join("\n"),
    answersCalls: last.some((item) => itemType(item).endsWith("_output")),
    tools,
    wantsJson: format !== "text" || instructions.includes("JSON Schema"),
    wantsSummary: false,
    body: fields,
  };
}
