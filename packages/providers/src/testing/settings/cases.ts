import type { Json } from "@millrace/core";
import type { VendorEvent } from "../../framing/framing.ts";
import { aiSdkSettings, refuseOptions } from "../../../../bridges/src/ai-sdk-settings.ts";
import type { Protocol } from "../../protocol.ts";
import { anthropicMessagesProtocol } from "../../protocols/anthropic-messages/protocol.ts";
import { bedrockConverseProtocol } from "../../protocols/bedrock-converse/protocol.ts";
import { geminiProtocol } from "../../protocols/gemini/protocol.ts";
import {
  createOpenaiChatProtocol,
  openaiChatProtocol,
} from "../../protocols/openai-chat/protocol.ts";
import { compatibleSettings } from "../../protocols/openai-chat/settings.ts";
import { openaiResponsesProtocol } from "../../protocols/openai-responses/protocol.ts";
import { applySettings } from "../../protocols/settings.ts";
import type { SettingName } from "../../settings.ts";

type AnyProtocol = Pick<Protocol<VendorEvent, unknown>, "id" | "request" | "settings">;

/** A protocol, and models between which its table distinguishes. The first one is of today. */
export interface SettingsTarget {
  readonly name: string;
  readonly protocol: AnyProtocol;
  readonly models: readonly string[];
}

const openaiModels = ["gpt-5", "gpt-5.1", "gpt-5.4-mini", "gpt-5.6-sol", "gpt-6-sol", "o3"];
const others = ["gpt-5-chat-latest", "gpt-4.1", "my-deployment"];

export const settingsTargets: readonly SettingsTarget[] = [
  { name: "openai-chat", protocol: openaiChatProtocol, models: [...openaiModels, ...others] },
  {
    name: "openai-compatible",
    protocol: createOpenaiChatProtocol({ settings: compatibleSettings() }),
    models: ["llama3", "openai/gpt-5"],
  },
  {
    name: "openai-responses",
    protocol: openaiResponsesProtocol,
    models: [...openaiModels, ...others],
  },
  {
    name: "anthropic-messages",
    protocol: anthropicMessagesProtocol,
    models: [
      "claude-sonnet-5",
      "claude-opus-5-5",
      "claude-fable-5",
      "claude-opus-4-7",
      "anthropic/claude-sonnet-4.6",
      "claude-opus-4-5",
      "claude-sonnet-4-5",
      "us.anthropic.claude-sonnet-4-20250514-v1:0",
      "claude-3-7-sonnet-latest",
      "claude-3-5-haiku-latest",
      "claude-mythos-preview",
      "kimi-k2",
    ],
  },
  {
    name: "bedrock-converse",
    protocol: bedrockConverseProtocol,
    models: [
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "global.anthropic.claude-opus-4-6-v1",
      "anthropic.claude-3-5-haiku-20241022-v1:0",
      "amazon.nova-pro-v1:0",
      "openai.gpt-oss-120b-1:0",
      "meta.llama3-3-70b-instruct-v1:0",
    ],
  },
  {
    name: "gemini",
    protocol: geminiProtocol,
    models: [
      "gemini-3-pro-preview",
      "gemini-3.1-pro-preview",
      "gemini-3-flash-preview",
      "gemini-2.5-pro",
      "gemini-2.5-flash",
      "gemini-2.0-flash",
      "gemini-flash-latest",
    ],
  },
  { name: "ai-sdk-v3", protocol: aiSdkOptions("v3"), models: ["any"] },
  { name: "ai-sdk-v4", protocol: aiSdkOptions("v4"), models: ["any"] },
];

/** The call options that the bridge passes to a model of the AI SDK, as far as settings make them. */
function aiSdkOptions(version: "v3" | "v4"): AnyProtocol {
  const settings = aiSdkSettings(version);
  return {
    id: "ai-sdk",
    settings,
    request: (request, { model }) => {
      const { fields } = applySettings(settings, request, model);
      refuseOptions(request.transcript);
      return { path: "", body: fields };
    },
  };
}

/**
 * Values of each setting: every word, every form, and more than vendors take. Numbers and texts are
 * like nothing else in a request, so that they can be found in it.
 */
export const settingValues: Readonly<Record<SettingName, readonly [Json, ...Json[]]>> = {
  maxTokens: [43_210, 7],
  temperature: [0.125, 1, 1.875, 3],
  topP: [0.375, 0.96875],
  stop: ["Halt-1", ["Halt-1", "Halt-2"], ["1", "2", "3", "4", "5", "6"], [" \n"]],
  seed: [7_654_321],
  toolChoice: ["auto", "none", "required", { tool: "fs.read" }],
  parallelTools: [true, false],
  effort: ["none", "minimal", "low", "medium", "high", "max"],
  thinking: [true, false, { budgetTokens: 2_345 }, { budgetTokens: 3 }],
  showThinking: [true, false],
  cache: [
    true,
    false,
    { instructions: true },
    { tools: true },
    { items: true },
    { items: true, ttl: "5m" },
    { items: true, ttl: "30m" },
    { items: true, ttl: "1h" },
    { items: true, ttl: "12h" },
    { items: true, ttl: "24h" },
    { key: "Key-1" },
  ],
  serviceTier: ["auto", "default", "flex", "priority"],
  metadata: [{ user_id: "label-1" }, { team: "label-2" }, { Team: "Label 3" }],
};
