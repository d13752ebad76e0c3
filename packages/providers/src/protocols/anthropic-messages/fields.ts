import type { JsonObject } from "@millrace/core";
import type { ModelSettings, RequestSettings } from "@millrace/core/ports";

/**
 * Settings for Anthropic's Messages API: those that all vendors share, and its own fields. Fields that
 * are not listed are sent too. From the types of @anthropic-ai/sdk 1.8.0.
 */
export interface AnthropicSettings extends RequestSettings {
  /** Names of beta features, sent as a header. */
  readonly betas?: readonly string[] | undefined;
  readonly max_tokens?: number | undefined;
  readonly top_k?: number | undefined;
  readonly top_p?: number | undefined;
  readonly stop_sequences?: readonly string[] | undefined;
  // Any object too, so that settings for no vendor in particular can be passed on.
  readonly thinking?: ModelSettings["thinking"] | AnthropicThinking | JsonObject;
  readonly output_config?:
    | {
        readonly effort?: "low" | "medium" | "high" | "xhigh" | "max";
        readonly format?: JsonObject;
        readonly task_budget?: JsonObject;
      }
    | undefined;
  /** A breakpoint behind the last block that can be kept. */
  readonly cache_control?: AnthropicCacheControl | undefined;
  readonly service_tier?: "auto" | "standard_only" | undefined;
  readonly speed?: "standard" | "fast" | undefined;
  readonly inference_geo?: string | undefined;
  /** Blocks behind the request's own instructions. */
  readonly system?: string | readonly JsonObject[] | undefined;
  readonly tool_choice?: JsonObject | undefined;
  /** Tools that the vendor runs, beside those of the request. */
  readonly tools?: readonly JsonObject[] | undefined;
  readonly container?: string | JsonObject | undefined;
  readonly context_management?: JsonObject | undefined;
  readonly mcp_servers?: readonly JsonObject[] | undefined;
}

// Types and not interfaces, because settings are JSON.
type AnthropicThinking =
  | { readonly type: "adaptive"; readonly display?: "summarized" | "omitted" }
  | { readonly type: "disabled" }
  | {
      readonly type: "enabled";
      readonly budget_tokens: number;
      readonly display?: "summarized" | "omitted";
    };

type AnthropicCacheControl = { readonly type: "ephemeral"; readonly ttl?: "5m" | "1h" };
