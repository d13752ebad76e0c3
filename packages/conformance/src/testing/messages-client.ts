import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { PlainReply, StrictVendor } from "../vendors/index.ts";

/** A weather tool in the fields of the Messages API. */
export const weather: JsonObject = {
  name: "weather",
  description: "Current weather in a city",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};

/** A reply of the vendor: the blocks of its stream, or its error. */
export interface Received {
  readonly status: number;
  /** The message of the error, if there is one. */
  readonly refused: string | undefined;
  readonly code: string | undefined;
  readonly blocks: readonly JsonObject[];
  readonly stop: string | undefined;
  readonly usage: JsonObject;
  readonly transformations: readonly Json[] | undefined;
}

/** A plain client of the Messages API: it appends to `messages`, and a test may change anything else. */
export class MessagesClient {
  readonly vendor: StrictVendor;
  betas: readonly string[] = [];
  fields: JsonObject = {
    model: "claude-opus-5-5",
    max_tokens: 1000,
    system: "You help.",
    tools: [weather],
  };
  messages: readonly JsonObject[] = [];

  constructor(vendor: StrictVendor) {
    this.vendor = vendor;
  }

  /** A client with the same history, for requests that must not change this one. */
  copy(): MessagesClient {
    const copy = new MessagesClient(this.vendor);
    copy.betas = this.betas;
    copy.fields = this.fields;
    copy.messages = this.messages;
    return copy;
  }

  append(...messages: readonly JsonObject[]): this {
    this.messages = [...this.messages, ...messages];
    return this;
  }

  /** Replaces the blocks of one message. */
  edit(at: number, change: (blocks: readonly JsonObject[]) => readonly JsonObject[]): this {
    this.messages = this.messages.map((message, index) => {
      const content = message["content"];
      const blocks = Array.isArray(content) ? (content as readonly JsonObject[]) : [];
      return index === at ? { ...message, content: [...change(blocks)] } : message;
    });
    return this;
  }

  /** Sends a user message and appends the reply. */
  ask(text: string, reply: PlainReply = { think: "Hm.", text: "Yes." }): Received {
    this.append({ role: "user", content: [{ type: "text", text }] });
    return this.continue(reply);
  }

  /** Sends the messages and appends the reply. */
  continue(reply: PlainReply = { think: "Hm.", text: "Yes." }): Received {
    const received = this.send(reply);
    if (received.blocks.length > 0) {
      this.append({ role: "assistant", content: [...received.blocks] });
    }
    return received;
  }

  /** Sends the messages and changes nothing. */
  send(reply: PlainReply = { text: "Yes." }): Received {
    const body = { ...this.fields, stream: true, messages: [...this.messages] };
    const response = this.vendor.answer(
      {
        method: "POST",
        path: "/v1/messages",
        headers: this.betas.length === 0 ? {} : { "anthropic-beta": this.betas.join(",") },
        body: JSON.stringify(body),
      },
      () => reply,
    );
    return read(response.status, String(response.body));
  }
}

function read(status: number, body: string): Received {
  if (status !== 200) {
    const { error } = JSON.parse(body) as { error: { message: string; details?: JsonObject } };
    const code = error.details?.["error_code"] as string | undefined;
    const none = { blocks: [], stop: undefined, usage: {}, transformations: undefined };
    return { status, refused: error.message, code, ...none };
  }
  const events = [...body.matchAll(/^data: (.*)$/gm)].map(
    ([, data = "{}"]) => JSON.parse(data) as JsonObject,
  );
  const start = events[0]?.["message"] as JsonObject;
  const end = events.find(({ type }) => type === "message_delta") ?? {};
  return {
    status,
    refused: undefined,
    code: undefined,
    blocks: blocksOf(events),
    stop: (end["delta"] as JsonObject)["stop_reason"] as string,
    usage: { ...(start["usage"] as JsonObject), ...(end["usage"] as JsonObject) },
    transformations: start["input_transformations"] as readonly Json[] | undefined,
  };
}

/** The blocks of a stream. */
export function blocksOf(events: readonly JsonObject[]): readonly JsonObject[] {
  const blocks: JsonObject[] = [];
  const inputs: string[] = [];
  for (const { type, index, content_block: block, delta } of events) {
    const at = Number(index);
    if (type === "content_block_start" && isJsonObject(block)) blocks[at] = block;
    if (type !== "content_block_delta" || !isJsonObject(delta)) continue;
    const [key = ""] = Object.keys(delta).filter((name) => name !== "type");
    const added = delta[key] as string;
    if (key === "partial_json") inputs[at] = (inputs[at] ?? "") + added;
    else blocks[at] = { ...blocks[at], [key]: (blocks[at]?.[key] as string) + added };
  }
  return blocks.map((block, at) => {
    const input = inputs[at];
    return input === undefined ? block : { ...block, input: JSON.parse(input) as JsonObject };
  });
}
