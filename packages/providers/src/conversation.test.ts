/** What a request asks for by itself because it belongs to a conversation. */
import type { Item, Json, JsonObject } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { anthropicMessagesProtocol } from "./protocols/anthropic-messages/protocol.ts";
import { bedrockConverseProtocol } from "./protocols/bedrock-converse/protocol.ts";
import { geminiProtocol } from "./protocols/gemini/protocol.ts";
import { createOpenaiChatProtocol, openaiChatProtocol } from "./protocols/openai-chat/protocol.ts";
import { compatibleSettings } from "./protocols/openai-chat/settings.ts";
import { openaiResponsesProtocol } from "./protocols/openai-responses/protocol.ts";
import { answers, call, look, result, says, user } from "./testing/anthropic-items.ts";

const conversation = { key: "k1" };
const hi = { transcript: [user("Hi")], instructions: "Be brief.", tools: [look] };

function bodyOf(
  protocol: Pick<typeof anthropicMessagesProtocol, "request">,
  model: string,
  request: Partial<ModelRequest> = {},
): JsonObject {
  return protocol.request({ ...hi, ...request }, { model }).body;
}

/** The texts of the blocks that are marked, or the names of what they are part of. */
function marked({ system, tools, messages }: JsonObject): readonly string[] {
  const blocks = (value: Json | undefined): readonly JsonObject[] =>
    Array.isArray(value) ? (value as readonly JsonObject[]) : [];
  const has = (block: JsonObject): boolean => block["cache_control"] !== undefined;
  return [
    ...(blocks(system).some(has) ? ["system"] : []),
    ...(blocks(tools).some(has) ? ["tools"] : []),
    ...blocks(messages).flatMap(({ content }) =>
      blocks(content)
        .filter(has)
        .map((block) =>
          JSON.stringify(block["text"] ?? block["tool_use_id"] ?? block["id"]).slice(1, -1),
        ),
    ),
  ];
}

describe("Claude keeps what the next request begins with", () => {
  const claude = "claude-sonnet-5";
  const marks = (request: Partial<ModelRequest>): readonly string[] =>
    marked(bodyOf(anthropicMessagesProtocol, claude, request));

  test("only in a conversation, and not if the settings or a single request say otherwise", () => {
    expect(marks({})).toEqual([]);
    expect(marks({ conversation })).toEqual(["system", "Hi"]);
    expect(marks({ conversation, settings: { cache: false } })).toEqual([]);
    expect(marks({ conversation: { ...conversation, isSingle: true } })).toEqual([]);
    const body = bodyOf(anthropicMessagesProtocol, claude, {
      conversation,
      settings: { cache_control: { type: "ephemeral" } },
    });
    expect(marked(body)).toEqual([]);
    expect(body["cache_control"]).toEqual({ type: "ephemeral" });
  });

  test("the tools by themselves, if there are no instructions behind them", () => {
    expect(marks({ conversation, instructions: undefined })).toEqual(["tools", "Hi"]);
  });

  test("at the end of the request before too, however many blocks its turn had", () => {
    const ids = Array.from({ length: 30 }, (_, at) => `c${at}`);
    const transcript: readonly Item[] = [
      user("First"),
      says("One."),
      user("Second"),
      says("Looking.", ...ids.map((id) => call(id))),
      answers(...ids.map((id) => result(id, "seen"))),
    ];
    expect(marks({ conversation, transcript })).toEqual(["system", "Second", "c29"]);
  });

  test("but leaves its marks to parts that are marked, of which there may be four", () => {
    const part = (id: string): Item => ({
      ...user(id),
      parts: user(id).parts.map((each) => ({ ...each, metadata: { options: { cache: true } } })),
    });
    const transcript = [part("A"), says("a"), user("B"), says("b"), part("C")];
    expect(marks({ conversation, transcript })).toEqual(["system", "A", "B", "C"]);
    const four = [part("A"), says("a"), part("B"), says("b"), user("C"), says("c"), user("D")];
    expect(marks({ conversation, transcript: four })).toEqual(["system", "A", "B", "D"]);
  });
});

describe("a model that binds its thinking", () => {
  const beta = "thinking-binding-controls-2026-08-01";
  const drop = { prefix_mismatch_behavior: "drop_block" };
  const requestOf = (
    model: string,
    settings = {},
  ): ReturnType<typeof anthropicMessagesProtocol.request> =>
    anthropicMessagesProtocol.request({ ...hi, settings }, { model });

  test.each([
    "claude-opus-5-5",
    "claude-fable-5-1",
    "claude-mythos-5.2",
    "claude-haiku-5-5-20261001",
  ])("%s is asked to leave out what does not fit", (model) => {
    const { body, headers } = requestOf(model);
    expect(body["thinking"]).toEqual({ type: "adaptive", block_binding: drop });
    expect(headers?.["anthropic-beta"]).toBe(beta);
  });

  test.each(["claude-opus-5", "claude-sonnet-5", "claude-fable-5", "claude-opus-4-8", "kimi-k2"])(
    "%s is not one",
    (model) => {
      const { body, headers } = requestOf(model);
      expect(body).not.toHaveProperty("thinking");
      expect(headers).not.toHaveProperty("anthropic-beta");
    },
  );

  test("is asked for what the settings say instead, and for nothing without thinking", () => {
    const binding = { prefix_mismatch_behavior: "error" };
    const own = { thinking: { type: "adaptive", block_binding: binding } };
    expect(requestOf("claude-opus-5-5", own).body["thinking"]).toEqual(own.thinking);
    const { body, headers } = requestOf("claude-haiku-5-5", { thinking: false });
    expect(body["thinking"]).toEqual({ type: "disabled" });
    expect(headers).not.toHaveProperty("anthropic-beta");
  });

  test("is asked by Converse in the fields of the model", () => {
    const body = bodyOf(bedrockConverseProtocol, "us.anthropic.claude-opus-5-5-v1:0", {
      settings: { additionalModelRequestFields: { anthropic_beta: ["other"] } },
    });
    expect(body["additionalModelRequestFields"]).toEqual({
      anthropic_beta: ["other", beta],
      thinking: { type: "adaptive", block_binding: drop },
    });
  });
});

describe("in a conversation", () => {
  test("Bedrock keeps with models that can, at the end of the request before too", () => {
    const transcript = [user("First"), says("One."), user("Second")];
    const points = (model: string): number =>
      JSON.stringify(bodyOf(bedrockConverseProtocol, model, { conversation, transcript })).split(
        "cachePoint",
      ).length - 1;
    expect(points("us.anthropic.claude-sonnet-4-5-20250929-v1:0")).toBe(3);
    expect(points("amazon.nova-pro-v1:0")).toBe(3);
    expect(points("meta.llama3-70b-instruct-v1:0")).toBe(0);
  });

  test("OpenAI gets its key, unless the settings have one; other servers get none", () => {
    const keyOf = (body: JsonObject): Json | undefined => body["prompt_cache_key"];
    expect(keyOf(bodyOf(openaiResponsesProtocol, "gpt-6-sol", { conversation }))).toBe("k1");
    expect(keyOf(bodyOf(openaiChatProtocol, "gpt-5.6-sol", { conversation }))).toBe("k1");
    expect(keyOf(bodyOf(openaiResponsesProtocol, "gpt-6-sol"))).toBeUndefined();
    const settings = { prompt_cache_key: "own" };
    expect(keyOf(bodyOf(openaiResponsesProtocol, "gpt-6-sol", { conversation, settings }))).toBe(
      "own",
    );
    const server = createOpenaiChatProtocol({ settings: compatibleSettings() });
    expect(keyOf(bodyOf(server, "llama3", { conversation }))).toBeUndefined();
  });

  test("what models think is shown, with vendors that hide it", () => {
    const claude = (model: string, more: Partial<ModelRequest> = {}): Json | undefined =>
      bodyOf(anthropicMessagesProtocol, model, { conversation, ...more })["thinking"];
    expect(claude("claude-sonnet-5")).toEqual({ type: "adaptive", display: "summarized" });
    expect(claude("claude-sonnet-5", { settings: { showThinking: false } })).toEqual({
      type: "adaptive",
      display: "omitted",
    });
    expect(claude("claude-sonnet-4-5")).toBeUndefined();
    expect(claude("claude-opus-4-7", { settings: { effort: "high" } })).toEqual({
      type: "adaptive",
      display: "summarized",
    });
    const own = { thinking: { type: "enabled", budget_tokens: 2_048 } };
    expect(claude("claude-sonnet-4-6", { settings: own })).toEqual({
      ...own.thinking,
      display: "summarized",
    });
    const responses = (model: string): Json | undefined =>
      bodyOf(openaiResponsesProtocol, model, { conversation })["reasoning"];
    expect(responses("gpt-6-sol")).toEqual({ summary: "auto" });
    expect(responses("gpt-4.1")).toBeUndefined();
    expect(responses("my-deployment")).toBeUndefined();
    const gemini = bodyOf(geminiProtocol, "gemini-3.5-flash", { conversation });
    expect(gemini["generationConfig"]).toEqual({ thinkingConfig: { includeThoughts: true } });
  });
});
