import type { Attributes } from "@opentelemetry/api";
import type { Item, StopReason, Usage } from "@millrace/core";

// The names are those of OpenTelemetry's conventions for generative AI, as of their own repository
// (open-telemetry/semantic-conventions-genai) in 2026. They are in development there and may change;
// what the conventions have no name for begins with `millrace`.

/** The provider's name: the option, else by the protocol of the model's id, else none. */
export function providerAttributes(
  model: string | undefined,
  provider: string | undefined,
): Attributes {
  const protocol = model === undefined ? "" : splitModel(model).protocol;
  const name = provider ?? providers[protocol] ?? protocol;
  return name === "" ? {} : { "gen_ai.provider.name": name };
}

/** A model's id is `protocol/model`; conventions want the two apart. */
export function splitModel(id: string): { readonly protocol: string; readonly model: string } {
  const at = id.indexOf("/");
  return { protocol: id.slice(0, Math.max(0, at)), model: id.slice(at + 1) };
}

/** The vendor of a protocol, in the conventions' names. Other vendors of the protocol need the option. */
const providers: Readonly<Record<string, string>> = {
  "openai-chat": "openai",
  "openai-responses": "openai",
  "anthropic-messages": "anthropic",
  gemini: "gcp.gemini",
};

export function usageAttributes(usage: Usage): Attributes {
  const { cacheWriteTokens, reasoningTokens, cost } = usage;
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cachedTokens,
    ...(cacheWriteTokens === undefined
      ? {}
      : { "gen_ai.usage.cache_creation.input_tokens": cacheWriteTokens }),
    ...(reasoningTokens === undefined
      ? {}
      : { "gen_ai.usage.reasoning.output_tokens": reasoningTokens }),
    ...(cost === undefined ? {} : { "millrace.usage.cost": cost }),
  };
}

export function replyAttributes({ model, stop }: Item): Attributes {
  return {
    "gen_ai.response.finish_reasons": [finishReasons[stop]],
    ...(model === undefined ? {} : { "gen_ai.response.model": splitModel(model).model }),
  };
}

/** Our stop reasons in the conventions' words, as far as they have one. */
export const finishReasons: Readonly<Record<StopReason, string>> = {
  end: "stop",
  tools: "tool_call",
  length: "length",
  filtered: "content_filter",
  paused: "paused",
  aborted: "aborted",
  truncated: "error",
  failed: "error",
};
