/** The vendors that sessions are drawn for: our provider, and the stand-in that enforces the vendor's rules. */
import {
  strictAnthropic,
  strictBedrock,
  strictDeepseek,
  strictGemini,
  strictResponses,
} from "@millrace/conformance/vendors";
import type { StrictVendor, StrictVendorOptions } from "@millrace/conformance/vendors";
import type { Model } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import type { AnthropicSettings } from "@millrace/providers/anthropic";
import { bedrockAnthropic } from "@millrace/providers/bedrock";
import { deepSeek } from "@millrace/providers/compatible";
import { gemini } from "@millrace/providers/gemini";
import { openai } from "@millrace/providers/openai";

export interface VendorTarget {
  readonly name: string;
  readonly open: (options: StrictVendorOptions) => StrictVendor;
  /** The models between which a session may switch. */
  readonly models: readonly string[];
  readonly model: (name: string, baseUrl: string, net: "drop_block" | "error") => Model;
}

const apiKey = "k";
const common = { apiKey, retry: false } as const;

/** `error`: without the net by which the vendor leaves out what does not fit. */
function thinking(net: "drop_block" | "error"): AnthropicSettings {
  if (net === "drop_block") return {};
  return { thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: net } } };
}

export const vendorTargets: readonly VendorTarget[] = [
  {
    name: "anthropic",
    open: strictAnthropic,
    models: ["claude-opus-5-5", "claude-fable-5-1"],
    model: (name, baseUrl, net) => anthropic(name, { baseUrl, ...common, settings: thinking(net) }),
  },
  {
    name: "bedrockAnthropic",
    open: strictBedrock,
    models: ["anthropic.claude-opus-5-5", "anthropic.claude-fable-5-1"],
    model: (name, baseUrl, net) =>
      bedrockAnthropic(name, { baseUrl, ...common, settings: thinking(net) }),
  },
  {
    name: "openai",
    open: strictResponses,
    models: ["gpt-5.6-sol", "gpt-6-sol"],
    model: (name, baseUrl) => openai(name, { baseUrl, ...common }),
  },
  {
    name: "gemini",
    open: strictGemini,
    models: ["gemini-3-pro-preview", "gemini-3.5-flash"],
    model: (name, baseUrl) => gemini(name, { baseUrl, ...common }),
  },
  {
    name: "deepSeek",
    open: strictDeepseek,
    models: ["deepseek-v4-pro"],
    model: (name, baseUrl) => deepSeek(name, { baseUrl, ...common }),
  },
];
