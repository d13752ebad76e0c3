import type { JsonObject } from "@millrace/core";
import type { ModelSettings, RequestSettings } from "@millrace/core/ports";

/**
 * Settings for Bedrock's Converse API: those that all vendors share, and its own fields. Fields that are
 * not listed are sent too. From the types of @aws-sdk/client-bedrock-runtime 3.1162.0.
 */
export interface BedrockSettings extends RequestSettings {
  readonly inferenceConfig?:
    | {
        readonly maxTokens?: number;
        readonly temperature?: number;
        readonly topP?: number;
        readonly stopSequences?: readonly string[];
      }
    | undefined;
  /** Fields of the model itself, such as Claude's `top_k` and `thinking`. */
  readonly additionalModelRequestFields?: JsonObject | undefined;
  /** Fields of the model's own reply, by JSON pointers. They are in the reply's evidence. */
  readonly additionalModelResponseFieldPaths?: readonly string[] | undefined;
  readonly guardrailConfig?:
    | {
        readonly guardrailIdentifier: string;
        readonly guardrailVersion: string;
        readonly trace?: "enabled" | "disabled" | "enabled_full";
        readonly streamProcessingMode?: "sync" | "async";
      }
    | undefined;
  readonly outputConfig?:
    | {
        readonly effort?: "low" | "medium" | "high" | "xhigh" | "max";
        readonly textFormat?: JsonObject;
      }
    | undefined;
  readonly performanceConfig?: { readonly latency: "standard" | "optimized" } | undefined;
  readonly promptVariables?: Readonly<Record<string, { readonly text: string }>> | undefined;
  readonly requestMetadata?: Readonly<Record<string, string>> | undefined;
  // The vendor's own field has the name of the shared setting.
  readonly serviceTier?:
    | ModelSettings["serviceTier"]
    | { readonly type: "default" | "flex" | "priority" | "reserved" }
    | JsonObject;
  /** Blocks behind the request's own instructions. */
  readonly system?: readonly JsonObject[] | undefined;
  /** Tools beside those of the request, such as cache points and tools that the vendor runs. */
  readonly toolConfig?:
    | { readonly tools?: readonly JsonObject[]; readonly toolChoice?: JsonObject }
    | undefined;
}
