/** The least work that any reader must do, and less: the denominator of all figures. */
import { StringDecoder } from "node:string_decoder";
import { Agent } from "undici";
import type { Outcome } from "../scenario.ts";
import { both, isAnthropic, startWriting } from "./contender.ts";
import type { Contender } from "./contender.ts";

const agent = new Agent();

/** Fetch, split by hand, JSON.parse, concatenate. */
export const bare: Contender = {
  dialects: both,
  run: async (base, model) => {
    const reading = new Reading(model);
    const decoder = new TextDecoder();
    await byFetch(base, model, (bytes) => reading.take(decoder.decode(bytes, { stream: true })));
    return reading.outcome();
  },
};

/** The same over undici's dispatcher. */
export const bareDispatch: Contender = {
  dialects: both,
  run: async (base, model) => {
    const reading = new Reading(model);
    const decoder = new StringDecoder("utf8");
    await byDispatch(base, model, (bytes) => reading.take(decoder.write(Buffer.from(bytes))));
    return reading.outcome();
  },
};

/** Reads the bytes and discards them. */
export const floorFetch: Contender = {
  dialects: both,
  run: async (base, model) => {
    await byFetch(base, model, () => undefined);
    return "looked away";
  },
};

export const floorDispatch: Contender = {
  dialects: both,
  run: async (base, model) => {
    await byDispatch(base, model, () => undefined);
    return "looked away";
  },
};

type Take = (bytes: Uint8Array) => void;

function requestFor(model: string): {
  path: string;
  headers: Record<string, string>;
  body: string;
} {
  return {
    path: isAnthropic(model) ? "/v1/messages" : "/v1/chat/completions",
    headers: { "content-type": "application/json", authorization: "Bearer k" },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "go" }] }),
  };
}

async function byFetch(base: string, model: string, take: Take): Promise<void> {
  const { path, headers, body } = requestFor(model);
  const response = await fetch(base + path, { method: "POST", headers, body });
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return;
    take(value);
  }
}

function byDispatch(base: string, model: string, take: Take): Promise<void> {
  const { path, headers, body } = requestFor(model);
  return new Promise((resolve, reject) => {
    agent.dispatch(
      { origin: base, path, method: "POST", headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (_, bytes) => take(bytes),
        onResponseEnd: () => resolve(),
        onResponseError: (_, error) => reject(error),
      },
    );
  });
}

interface ChatChunk {
  readonly choices: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly function: { readonly name?: string; readonly arguments?: string };
      }[];
    };
  }[];
}

interface AnthropicEvent {
  readonly type: string;
  readonly index: number;
  readonly content_block: { readonly type: string; readonly name?: string };
  readonly delta: {
    readonly type: string;
    readonly text: string;
    readonly thinking: string;
    readonly partial_json: string;
  };
}

class Reading {
  readonly #anthropic: boolean;
  #held = "";
  #text = "";
  readonly #calls: { name: string; written: string }[] = [];
  readonly #blocks: { type: string; name: string; written: string }[] = [];

  constructor(model: string) {
    this.#anthropic = isAnthropic(model);
  }

  take(text: string): void {
    const all = this.#held === "" ? text : this.#held + text;
    let from = 0;
    for (let end = all.indexOf("\n"); end >= 0; end = all.indexOf("\n", from)) {
      if (end > from && all.startsWith("data: ", from)) this.#line(all.slice(from + 6, end));
      from = end + 1;
    }
    this.#held = from === 0 ? all : all.slice(from);
  }

  #line(data: string): void {
    if (data === "[DONE]") return;
    if (this.#anthropic) this.#anthropicEvent(JSON.parse(data) as AnthropicEvent);
    else this.#chunk(JSON.parse(data) as ChatChunk);
  }

  #chunk({ choices }: ChatChunk): void {
    const delta = choices[0]?.delta;
    if (delta === undefined) return;
    if (delta.content) this.#text += delta.content;
    for (const call of delta.tool_calls ?? []) {
      const known = (this.#calls[call.index] ??= { name: "", written: "" });
      if (call.function.name) known.name += call.function.name;
      if (call.function.arguments) known.written += call.function.arguments;
    }
  }

  #anthropicEvent({ type, index, delta, content_block: block }: AnthropicEvent): void {
    if (type === "content_block_start") {
      this.#blocks[index] = { type: block.type, name: block.name ?? "", written: "" };
    } else if (type === "content_block_delta") {
      const known = this.#blocks[index] as { written: string };
      if (delta.type === "text_delta") known.written += delta.text;
      else if (delta.type === "thinking_delta") known.written += delta.thinking;
      else if (delta.type === "input_json_delta") known.written += delta.partial_json;
    }
  }

  outcome(): Outcome {
    const outcome = startWriting();
    outcome.text = this.#text;
    for (const { type, name, written } of this.#blocks) {
      if (type === "text") outcome.text += written;
      else if (type === "thinking") outcome.thinking += written;
      else outcome.calls.push({ name, input: JSON.parse(written) });
    }
    for (const { name, written } of this.#calls) {
      outcome.calls.push({ name, input: JSON.parse(written) });
    }
    return outcome;
  }
}
