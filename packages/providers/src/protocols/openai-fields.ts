import type { JsonObject } from "@millrace/core";
import type { RequestSettings } from "@millrace/core/ports";

/** Fields that OpenAI's two APIs share. From the types of openai 7.53.0. */
interface OpenaiFields extends RequestSettings {
  readonly top_p?: number | undefined;
  readonly top_logprobs?: number | undefined;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly prompt_cache_key?: string | undefined;
  readonly prompt_cache_retention?: "in_memory" | "24h" | undefined;
  readonly prompt_cache_options?:
    | { readonly mode?: "implicit" | "explicit"; readonly ttl?: "30m" | "12h" }
    | undefined;
  readonly safety_identifier?: string | undefined;
  readonly store?: boolean | undefined;
  readonly tool_choice?: string | JsonObject | undefined;
  /** Tools that the vendor runs, beside those of the request. */
  readonly tools?: readonly JsonObject[] | undefined;
}

/**
 * Settings for OpenAI's Responses API: those that all vendors share, and its own fields. Fields that are
 * not listed are sent too.
 */
export interface OpenaiSettings extends OpenaiFields {
  readonly max_output_tokens?: number | undefined;
  readonly max_tool_calls?: number | undefined;
  readonly reasoning?:
    | {
        readonly effort?: OpenaiEffort;
        readonly summary?: "auto" | "concise" | "detailed";
        readonly context?: "auto" | "current_turn" | "all_turns";
        readonly mode?: string;
      }
    | undefined;
  readonly text?:
    | { readonly verbosity?: "low" | "medium" | "high"; readonly format?: JsonObject }
    | undefined;
  /** Null: nothing is included, not even the reasoning that later requests send back. */
  readonly include?: readonly string[] | null | undefined;
  readonly truncation?: "auto" | "disabled" | undefined;
  readonly service_tier?: OpenaiTier | "ultrafast" | undefined;
  readonly background?: boolean | undefined;
  readonly context_management?: readonly JsonObject[] | undefined;
  readonly prompt?: JsonObject | undefined;
}

/**
 * Settings for chat completions: those that all vendors share, and OpenAI's own fields. Fields that are
 * not listed are sent too, such as those that only one server has.
 */
export interface OpenaiChatSettings extends OpenaiFields {
  readonly max_completion_tokens?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly reasoning_effort?: OpenaiEffort | undefined;
  readonly verbosity?: "low" | "medium" | "high" | undefined;
  readonly frequency_penalty?: number | undefined;
  readonly presence_penalty?: number | undefined;
  readonly logit_bias?: Readonly<Record<string, number>> | undefined;
  readonly logprobs?: boolean | undefined;
  readonly modalities?: readonly ("text" | "audio")[] | undefined;
  readonly audio?: JsonObject | undefined;
  readonly prediction?: JsonObject | undefined;
  /** Null: for servers that have none. The instructions then describe the shape of a reply. */
  readonly response_format?: JsonObject | null | undefined;
  /** Null: for servers that refuse the field. Usage is then unknown. */
  readonly stream_options?: JsonObject | null | undefined;
  readonly service_tier?: OpenaiTier | undefined;
  readonly web_search_options?: JsonObject | undefined;
}

type OpenaiEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
type OpenaiTier = "auto" | "default" | "flex" | "scale" | "priority" | "fast";
