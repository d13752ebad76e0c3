import type { Model, Part } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { gemini } from "@millrace/providers/gemini";
import { openai, openaiCompatible } from "@millrace/providers/openai";
import { countsOf, failedReading, joinReasoning, parsedCall } from "../reading.ts";
import type { Contender, Source } from "./contender.ts";

export const millrace: Contender = {
  name: () => "millrace",
  read: async (source) => {
    const stream = modelOf(source).stream({
      transcript: [],
      tools: source.tools.map((name) => ({ name, description: name, input: { type: "object" } })),
    });
    const { parts, stop, cause, usage } = await stream.result;
    if (cause !== undefined) return failedReading;
    return {
      failed: false,
      text: parts.map((part) => (part.kind === "text" ? part.text : "")).join(""),
      reasoning: joinReasoning(
        parts.flatMap((part) => (part.kind === "reasoning" ? [part.text] : [])),
      ),
      calls: parts.flatMap(callIn),
      stop,
      usage: countsOf(usage?.inputTokens, usage?.outputTokens, {
        cached: usage?.cachedTokens,
        reasoning: usage?.reasoningTokens,
      }),
    };
  },
};

function callIn(part: Part): string[] {
  return part.kind === "tool_call" ? [parsedCall(part.tool, part.input)] : [];
}

function modelOf({ protocol, base, model, options: server }: Source): Model {
  const options = { apiKey: "k", retry: false } as const;
  switch (protocol) {
    case "openai-chat":
      return openaiCompatible(model, { ...options, ...server, baseUrl: `${base}/v1` });
    case "openai-responses":
      return openai(model, { ...options, baseUrl: `${base}/v1` });
    case "anthropic-messages":
      return anthropic(model, { ...options, baseUrl: base });
    case "gemini":
      return gemini(model, { ...options, baseUrl: `${base}/v1beta` });
  }
}
