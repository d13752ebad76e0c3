import type { Json, JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { validateAnthropicMessages } from "./anthropic-messages.ts";
import { validateGemini } from "./gemini.ts";
import { validateOpenaiChat } from "./openai-chat.ts";
import { validateOpenaiResponses } from "./openai-responses.ts";

const closed = { type: "object", additionalProperties: false } as const;
const text = { type: "string" };
const sound = { ...closed, properties: { a: text }, required: ["a"] };
const free = { type: "object", properties: { a: text } };
const optional = { ...closed, properties: { a: text } };
const lengthy = { ...closed, properties: { a: { ...text, minLength: 1 } }, required: ["a"] };
const beside = {
  ...closed,
  properties: { a: { $ref: "#/$defs/b", title: "a" } },
  required: ["a"],
  $defs: { b: text },
};
const endless = {
  ...closed,
  properties: { a: { $ref: "#/$defs/b" } },
  required: ["a"],
  $defs: { b: { ...closed, properties: { c: { $ref: "#/$defs/b" } }, required: ["c"] } },
};

function named(schema: Json, more: JsonObject = {}): JsonObject {
  return { name: "shape", schema, ...more };
}

/** The violation of a format, or undefined if it is accepted. */
type Verdicts = readonly (readonly [
  name: string,
  judge: () => readonly string[],
  expected: string | undefined,
])[];

const chat = (format: Json, more: JsonObject = {}): readonly string[] => {
  const messages = [{ role: "user", content: "hi" }];
  return validateOpenaiChat({ model: "gpt-5", messages, response_format: format, ...more });
};
const schemaFormat = (json_schema: Json): JsonObject => ({ type: "json_schema", json_schema });
const askedJson = { messages: [{ role: "user", content: "as JSON" }] };

const chatVerdicts: Verdicts = [
  ["text", () => chat({ type: "text" }), undefined],
  ["JSON that is asked for", () => chat({ type: "json_object" }, askedJson), undefined],
  ["JSON that nobody asked for", () => chat({ type: "json_object" }), "JSON is in no message"],
  ["a strict schema", () => chat(schemaFormat(named(sound, { strict: true }))), undefined],
  ["an endless schema", () => chat(schemaFormat(named(endless, { strict: true }))), undefined],
  ["a free schema", () => chat(schemaFormat(named(free, { strict: false }))), undefined],
  ["null", () => chat(null), "$.response_format.type"],
  ["another type", () => chat({ type: "xml" }), "$.response_format.type"],
  ["an extra key", () => chat({ type: "text", strict: true }), "extra key"],
  ["no name", () => chat(schemaFormat({ schema: sound })), "json_schema.name: missing"],
  ["a bad name", () => chat(schemaFormat({ name: "a b", schema: sound })), "does not match"],
  ["no schema", () => chat(schemaFormat({ name: "a" })), "json_schema.schema: missing"],
  ["a list", () => chat(schemaFormat(named({ type: "array" }))), "not an object's schema"],
  ["a choice", () => chat(schemaFormat(named({ ...free, anyOf: [free] }))), "refused at the top"],
  ["a free one", () => chat(schemaFormat(named(free, { strict: true }))), "open for more"],
  ["a gap", () => chat(schemaFormat(named(optional, { strict: true }))), "lacks a property"],
  ["a length", () => chat(schemaFormat(named(lengthy, { strict: true }))), "minLength: refused"],
  ["a title", () => chat(schemaFormat(named(beside, { strict: true }))), "beside a reference"],
  ["an odd strictness", () => chat(schemaFormat(named(sound, { strict: 1 }))), "neither true"],
  [
    "an old model",
    () => chat(schemaFormat(named(sound)), { model: "gpt-4-turbo" }),
    "not for this model",
  ],
];

const responses = (text: Json, more: JsonObject = {}): readonly string[] => {
  const input = [{ role: "user", content: "hi" }];
  return validateOpenaiResponses({ model: "gpt-5", store: false, input, text, ...more });
};
const flat = (schema: Json, more: JsonObject = {}): JsonObject => ({
  format: { type: "json_schema", ...named(schema), ...more },
});

const responsesVerdicts: Verdicts = [
  ["a strict schema", () => responses(flat(sound, { strict: true })), undefined],
  ["a free schema", () => responses({ ...flat(free), verbosity: "low" }), undefined],
  ["a schema within", () => responses({ format: schemaFormat(named(sound)) }), "extra key"],
  ["an extra key", () => responses({ form: {} }), "$.text.form: extra key"],
  ["null", () => responses({ format: null }), "$.text.format.type"],
  ["a bad name", () => responses(flat(sound, { name: "a b" })), "does not match"],
  ["a free one", () => responses(flat(free, { strict: true })), "open for more"],
  ["a list", () => responses(flat({ type: "array" })), "not an object's schema"],
  ["an old model", () => responses(flat(sound), { model: "gpt-4" }), "not for this model"],
];

const messages = (config: Json, model = "claude-sonnet-4-5"): readonly string[] =>
  validateAnthropicMessages({
    model,
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
    output_config: config,
  });
const format = (schema: Json, more: JsonObject = {}): JsonObject => ({
  format: { type: "json_schema", schema, ...more },
});

const messagesVerdicts: Verdicts = [
  ["an effort", () => messages({ effort: "low" }, "claude-3"), undefined],
  ["a schema", () => messages({ ...format(sound), effort: "low" }), undefined],
  ["a gap", () => messages(format(optional), "claude-opus-5"), undefined],
  ["an extra key", () => messages({ shape: {} }), "extra key"],
  ["a name", () => messages(format(sound, { name: "a" })), "format.name: extra key"],
  ["an old model", () => messages(format(sound), "claude-sonnet-4-0"), "not for this model"],
  ["a free schema", () => messages(format(free)), "open for more"],
  ["a length", () => messages(format(lengthy)), "minLength: refused"],
  ["an endless schema", () => messages(format(endless)), "contains itself"],
  ["a list", () => messages(format({ type: "array" })), "not an object's schema"],
];

const gemini = (config: Json, model: string, more: JsonObject = {}): readonly string[] =>
  validateGemini(
    {
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      generationConfig: config,
      ...more,
    },
    { model },
  );
const json = (schema: Json): JsonObject => ({
  responseMimeType: "application/json",
  responseJsonSchema: schema,
});
const search = { tools: [{ googleSearch: {} }] };
const [second, third] = ["gemini-2.5-flash", "gemini-3-pro"];

const geminiVerdicts: Verdicts = [
  ["a schema", () => gemini(json(free), second), undefined],
  ["an endless schema", () => gemini({ ...json(endless), temperature: 0 }, third), undefined],
  ["a schema beside tools", () => gemini(json(free), third, search), undefined],
  ["one for an older model", () => gemini(json(free), second, search), "JSON beside tools"],
  ["one for an old model", () => gemini(json(free), "gemini-2.0-flash"), "not for this model"],
  ["a schema alone", () => gemini({ responseJsonSchema: free }, third), "only taken for JSON"],
  ["another type", () => gemini({ responseMimeType: "text/html" }, third), "not one of"],
  ["an extra key", () => gemini({ response_format: {} }, third), "extra key"],
  ["true", () => gemini(json(true), third), "not an object"],
  ["a title", () => gemini(json(beside), third), "beside a reference"],
  ["two schemas", () => gemini({ ...json(free), responseSchema: {} }, third), "two schemas"],
];

describe.each([
  ["chat completions", chatVerdicts],
  ["responses", responsesVerdicts],
  ["messages", messagesVerdicts],
  ["gemini", geminiVerdicts],
] as const)("the validator of %s", (_, verdicts) => {
  test.each(verdicts.filter(([, , expected]) => expected === undefined))(
    "takes %s",
    (__, judge) => {
      expect(judge()).toEqual([]);
    },
  );

  test.each(verdicts.filter(([, , expected]) => expected !== undefined))(
    "refuses %s",
    (__, judge, expected) => {
      expect(judge().join("\n")).toContain(expected);
    },
  );
});
