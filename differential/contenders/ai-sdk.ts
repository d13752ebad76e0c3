/** The AI SDK: `streamText` with the package for each protocol, reduced from its full stream. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, streamText } from "ai";
import type { LanguageModel, TextStreamPart, ToolSet } from "ai";
import { callOf, countsOf, failedReading, joinReasoning, parsedCall } from "../reading.ts";
import type { Reading } from "../reading.ts";
import type { Contender, Source } from "./contender.ts";

export const aiSdk: Contender = {
  name: () => "ai",
  read: async (source) => {
    const { fullStream } = streamText({
      model: modelOf(source),
      prompt: "go",
      tools: toolSetOf(source.tools),
      maxRetries: 0,
      onError: () => undefined,
    });
    const reading = new FullStream();
    for await (const part of fullStream) reading.take(part);
    return reading.end();
  },
};

function toolSetOf(names: readonly string[]): ToolSet {
  return Object.fromEntries(names.map((name) => [name, { inputSchema: jsonSchema<never>({}) }]));
}

interface CallPart {
  readonly toolName: string;
  readonly input: unknown;
  readonly invalid?: boolean | undefined;
}

const stops: Readonly<Record<string, string>> = {
  stop: "end",
  "tool-calls": "tools",
  length: "length",
  "content-filter": "filtered",
};

/** Reasons of a reply that was cut. */
const cuts: ReadonlySet<string> = new Set(["error", "interrupted"]);

class FullStream {
  #text = "";
  readonly #reasoning = new Map<string, string>();
  readonly #calls: string[] = [];
  #last: Pick<Reading, "stop" | "usage"> | undefined;
  #failed = false;

  take(part: TextStreamPart<ToolSet>): void {
    if (part.type === "text-delta") {
      this.#text += part.text;
    } else if (part.type === "reasoning-delta") {
      this.#reasoning.set(part.id, (this.#reasoning.get(part.id) ?? "") + part.text);
    } else if (part.type === "tool-call" && part.providerExecuted !== true) {
      this.#calls.push(callIn(part));
    } else if (part.type === "error") {
      throw part.error;
    } else if (part.type === "finish-step") {
      const { inputTokens, outputTokens, inputTokenDetails, outputTokenDetails } = part.usage;
      this.#failed ||= cuts.has(part.finishReason);
      this.#last = {
        stop: stops[part.finishReason] ?? part.finishReason,
        usage: countsOf(inputTokens, outputTokens, {
          cached: inputTokenDetails.cacheReadTokens,
          reasoning: outputTokenDetails.reasoningTokens,
        }),
      };
    }
  }

  end(): Reading {
    if (this.#failed || this.#last === undefined) return failedReading;
    return {
      failed: false,
      text: this.#text,
      reasoning: joinReasoning([...this.#reasoning.values()]),
      calls: this.#calls,
      ...this.#last,
    };
  }
}

/** Unreadable arguments stay text. A text that was read is the free text of a custom tool. */
function callIn({ toolName, input, invalid }: CallPart): string {
  if (typeof input !== "string") return parsedCall(toolName, input);
  return invalid === true ? callOf(toolName, input) : parsedCall(toolName, { input });
}

function modelOf({ protocol, base, model }: Source): LanguageModel {
  const options = { apiKey: "k", baseURL: `${base}/v1` };
  switch (protocol) {
    case "openai-chat":
      return createOpenAICompatible({ ...options, name: "local", includeUsage: true })(model);
    case "openai-responses":
      return createOpenAI(options).responses(model);
    case "anthropic-messages":
      return createAnthropic(options)(model);
    case "gemini":
      return createGoogle({ ...options, baseURL: `${base}/v1beta` })(model);
  }
}
