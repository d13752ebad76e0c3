import { itemId, partId } from "@millrace/core/writing";
import type { Item, JsonObject } from "@millrace/core";
import type { ModelRequest, OutputShape } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { anthropicMessagesProtocol } from "./protocols/anthropic-messages/protocol.ts";
import { geminiProtocol } from "./protocols/gemini/protocol.ts";
import { openaiChatProtocol } from "./protocols/openai-chat/protocol.ts";
import { openaiResponsesProtocol } from "./protocols/openai-responses/protocol.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { ask, hello, toyModel } from "./testing/toy-model.ts";

const hi: Item = {
  id: itemId("i1"),
  author: "user",
  parts: [{ kind: "text", id: partId("p1"), text: "Hi" }],
  stop: "end",
};
const instructions = "Be brief.";
const tools = [{ name: "look", input: { type: "object" } }];

const strictSchema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const strict: OutputShape = { name: "place", schema: strictSchema };
const open: OutputShape = {
  name: "place",
  schema: { type: "object", properties: { city: { type: "string", minLength: 1 } } },
};
const list: OutputShape = { name: "list", schema: { type: "array", items: { type: "string" } } };

/** The instructions that describe a shape where the vendor has no field for it. */
function words({ name, schema }: OutputShape, before = `${instructions}\n\n`): string {
  return `${before}Your answer is one JSON value and nothing else: no other words, no code fence.
It has the shape "${name}", by this JSON Schema:
${JSON.stringify(schema)}`;
}

const asked = (more: Partial<ModelRequest>): ModelRequest => ({
  transcript: [hi],
  instructions,
  ...more,
});

describe("chat completions", () => {
  const body = (more: Partial<ModelRequest>, model = "gpt-5"): JsonObject =>
    openaiChatProtocol.request(asked(more), { model }).body;
  const system = (content: string): JsonObject => ({ role: "system", content });

  test("take a shape as a response format, strictly if the schema is strict already", () => {
    expect(body({ output: strict })).toEqual({
      model: "gpt-5",
      messages: [system(instructions), { role: "user", content: "Hi" }],
      response_format: {
        type: "json_schema",
        json_schema: { name: "place", schema: strictSchema, strict: true },
      },
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(body({ output: open })["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { ...open, strict: false },
    });
  });

  test.each([
    ["a schema that is no object's", list, "gpt-5", {}],
    ["a choice at the top", { name: "any", schema: { type: "object", anyOf: [] } }, "gpt-5", {}],
    ["an old model", strict, "gpt-4-turbo", {}],
    ["an old model that was tuned", strict, "ft:gpt-3.5-turbo:me", {}],
    ["a server that has no formats", strict, "gpt-5", { response_format: null }],
  ])("are asked in words for %s", (_, output, model, settings) => {
    const sent = body({ output, settings }, model);

    expect(sent["messages"]).toMatchObject([system(words(output)), { role: "user" }]);
    expect(sent).not.toHaveProperty("response_format");
  });

  test("keep a format of the settings, beside the words", () => {
    const settings = { response_format: { type: "json_object" } };

    expect(body({ output: strict, settings })).toMatchObject({
      ...settings,
      messages: [system(words(strict)), {}],
    });
    expect(body({ settings })).toMatchObject({ ...settings, messages: [system(instructions), {}] });
  });
});

describe("responses", () => {
  const body = (more: Partial<ModelRequest>, model = "gpt-5"): JsonObject =>
    openaiResponsesProtocol.request(asked(more), { model }).body;

  test("take a shape as the format of text, beside its other settings", () => {
    expect(body({ output: strict, settings: { text: { verbosity: "low" } } })).toEqual({
      model: "gpt-5",
      instructions,
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
      text: {
        verbosity: "low",
        format: { type: "json_schema", name: "place", schema: strictSchema, strict: true },
      },
      include: ["reasoning.encrypted_content"],
      store: false,
      stream: true,
    });
    expect(body({ output: open })["text"]).toMatchObject({ format: { strict: false } });
  });

  test("are asked in words otherwise, behind whichever instructions there are", () => {
    const format = { text: { format: { type: "json_object" } } };
    const settings = { instructions: "Be kind." };

    expect(body({ output: list })).toMatchObject({ instructions: words(list) });
    expect(body({ output: list })).not.toHaveProperty("text");
    expect(body({ output: strict }, "gpt-4")).toMatchObject({ instructions: words(strict) });
    expect(body({ output: strict, settings: format })).toMatchObject({
      ...format,
      instructions: words(strict),
    });
    expect(body({ output: list, settings, instructions: undefined })).toMatchObject({
      instructions: words(list, "Be kind.\n\n"),
    });
    expect(body({ output: list, instructions: "" })).toMatchObject({
      instructions: words(list, ""),
    });
  });
});

describe("messages", () => {
  const body = (more: Partial<ModelRequest>, model = "claude-sonnet-4-5"): JsonObject =>
    anthropicMessagesProtocol.request(asked(more), { model }).body;

  test("take a shape as the format of the output, beside its other settings", () => {
    const settings = { output_config: { effort: "low" } };

    expect(body({ output: strict, settings, tools })).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 64_000,
      system: instructions,
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
      tools: [{ name: "look", input_schema: { type: "object" } }],
      output_config: { effort: "low", format: { type: "json_schema", schema: strictSchema } },
      stream: true,
    });
  });

  test.each([
    ["claude-sonnet-4-5-20250929", true],
    ["claude-opus-4-8", true],
    ["claude-haiku-5", true],
    ["anthropic/claude-sonnet-4.5", true],
    ["eu.anthropic.claude-opus-4-6-v1:0", true],
    ["claude-sonnet-4-20250514", false],
    ["claude-opus-4-1", false],
    ["claude-3-7-sonnet-latest", false],
    ["deepseek-chat", false],
  ])("to %s have a format: %s", (model, isField) => {
    const sent = body({ output: strict }, model);

    expect(sent).toMatchObject({ system: isField ? instructions : words(strict) });
    expect("output_config" in sent).toBe(isField);
  });

  test("are asked in words for a schema that the vendor refuses, and beside a format of the settings", () => {
    const format = { type: "json_schema", schema: { ...strictSchema, title: "mine" } };
    const settings = { output_config: { format } };

    expect(body({ output: open })).toMatchObject({ system: words(open) });
    expect(body({ output: open })).not.toHaveProperty("output_config");
    expect(body({ output: list })).toMatchObject({ system: words(list) });
    expect(body({ output: strict, settings })).toMatchObject({
      ...settings,
      system: words(strict),
    });
  });
});

describe("gemini", () => {
  const body = (more: Partial<ModelRequest>, model = "gemini-3-pro-preview"): JsonObject =>
    geminiProtocol.request(asked(more), { model }).body;
  const system = (...texts: readonly string[]): JsonObject => ({
    systemInstruction: { parts: texts.map((text) => ({ text })) },
  });
  const json = (schema: unknown): object => ({
    responseMimeType: "application/json",
    responseJsonSchema: schema,
  });

  test("takes a shape as the schema of a JSON reply, beside its other settings", () => {
    const settings = { generationConfig: { temperature: 0 } };

    expect(body({ output: strict, settings })).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      ...system(instructions),
      generationConfig: { temperature: 0, ...json(strictSchema) },
    });
    expect(body({ output: list })).toMatchObject({ generationConfig: json(list.schema) });
  });

  test.each([
    ["gemini-3-pro-preview", true, true],
    ["gemini-flash-latest", true, true],
    ["gemini-2.5-flash", true, false],
    ["models/gemini-2.5-pro", true, false],
    ["gemini-2.0-flash", false, false],
    ["gemini-1.5-pro", false, false],
    ["gemma-3-27b-it", false, false],
  ])("%s takes it without tools: %s, with tools: %s", (model, alone, beside) => {
    const search = { tools: [{ googleSearch: {} }] };
    const hasField = (more: Partial<ModelRequest>): boolean => {
      const sent = body({ output: strict, ...more }, model);
      const inField = "generationConfig" in sent;
      expect(sent).toMatchObject(system(inField ? instructions : words(strict)));
      return inField;
    };

    expect(hasField({})).toBe(alone);
    expect(hasField({ tools })).toBe(beside);
    expect(hasField({ settings: search })).toBe(beside);
  });

  test("is asked in words for a reference that is not alone, and beside a format of the settings", () => {
    const place = { $ref: "#/$defs/place", description: "where" };
    const schema = { type: "object", properties: { place }, $defs: { place: strictSchema } };
    const settings = { generationConfig: { responseMimeType: "application/json" } };

    expect(body({ output: { name: "at", schema } })).toMatchObject(
      system(words({ name: "at", schema })),
    );
    expect(body({ output: strict, settings })).toMatchObject({
      ...settings,
      ...system(words(strict)),
    });
  });

  test("keeps instructions of the settings behind ours", () => {
    const settings = system("Be kind.");

    expect(body({ output: { name: "any", schema: true }, settings })).toMatchObject(
      system(words({ name: "any", schema: true }), "Be kind."),
    );
  });
});

describe("a name", () => {
  test("that a vendor would refuse is refused before anything is sent", async () => {
    await using server = await startVendorServer({ replies: [{ body: hello }] });
    const model = toyModel(server.url);

    const { result } = model.stream({ transcript: [], output: { ...strict, name: "my place" } });

    expect(await result).toMatchObject({ stop: "failed", cause: { code: "bad_request" } });
    expect((await result).cause?.message).toContain('the output name "my place"');
    expect(server.requests.length).toBe(0);
    expect((await ask(model)).reply.stop).toBe("end");
  });
});
