// The types of the real packages fit ours without a cast. Compiled, never run.
import { anthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import type { Model, Transcript } from "@millrace/core";
import type { Update } from "@millrace/core/writing";
import { Agent, run } from "@openai/agents";
import { streamText } from "ai";
import type { ModelMessage } from "ai";
import { createOpenAICompatible as createOpenAICompatibleV3 } from "ai-sdk-openai-compatible-v3";
import { aiSdk, fromAiSdk, toAiSdk } from "./ai-sdk.ts";
import { fromLangGraph } from "./langgraph.ts";
import { fromOpenaiAgents } from "./openai-agents.ts";

declare const transcript: Transcript;
declare const third: LanguageModelV3;
declare const fourth: LanguageModelV4;
const options = { name: "any", baseURL: "https://a.test" };

export const models: readonly Model[] = [
  aiSdk(third),
  aiSdk(fourth),
  aiSdk(anthropic("claude-sonnet-4-5")),
  aiSdk(createOpenAICompatible(options)("any")),
  aiSdk(createOpenAICompatibleV3(options)("any")),
];

export const messages: ModelMessage[] = toAiSdk(transcript);

export const aiSdkRun: AsyncIterable<Update> = fromAiSdk(
  streamText({ model: fourth, messages: toAiSdk(transcript) }),
);

export const agentsRun: AsyncIterable<Update> = fromOpenaiAgents(
  await run(new Agent({ name: "any" }), "hi", { stream: true }),
);

const graph = new StateGraph(MessagesAnnotation).addNode("any", () => ({ messages: [] })).compile();
export const graphRun: AsyncIterable<Update> = fromLangGraph(
  graph.streamEvents({ messages: [] }, { version: "v2" }),
);

// @ts-expect-error a model of an older version is refused
aiSdk({ ...fourth, specificationVersion: "v2" });
