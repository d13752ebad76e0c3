import type { Json, JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { validateOpenaiResponses } from "./openai-responses.ts";

const user = { role: "user", content: [{ type: "input_text", text: "hi" }] };
const schema = { type: "object", properties: {} };
const tool = { type: "function", name: "look", parameters: schema, strict: false };
const search = { type: "web_search_call", id: "ws_1", status: "completed" };

function ask(input: readonly Json[], more: JsonObject = {}): JsonObject {
  return { model: "gpt-5", store: false, input, ...more };
}

function said(more: JsonObject = {}, text: JsonObject = {}): JsonObject {
  const content = [{ type: "output_text", text: "yes", annotations: [], ...text }];
  return { type: "message", role: "assistant", content, ...more };
}

function thought(more: JsonObject = {}): JsonObject {
  return { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x", ...more };
}

function call(id: string, more: JsonObject = {}): JsonObject {
  return { type: "function_call", call_id: id, name: "look", arguments: "{}", ...more };
}

function output(id: string, value: Json = "done"): JsonObject {
  return { type: "function_call_output", call_id: id, output: value };
}

function says(...content: readonly Json[]): JsonObject {
  return { role: "user", content };
}

const custom = { type: "custom_tool_call", call_id: "a", name: "sh", input: "ls" };

const accepted: readonly (readonly [string, JsonObject])[] = [
  ["one question", ask([user], { stream: true, instructions: "be kind" })],
  ["a question as text", ask([{ role: "user", content: "hi" }])],
  [
    "reasoning, words and a question",
    ask([user, thought(), said({ id: "msg_1", status: "completed" }), user]),
  ],
  [
    "calls with their outputs",
    ask([user, thought(), call("a", { id: "fc_1" }), call("b"), output("a"), output("b")]),
  ],
  ["words behind a call", ask([user, call("a"), said(), output("a")])],
  ["a custom call", ask([user, custom, { ...output("a"), type: "custom_tool_call_output" }, user])],
  ["hosted tools", ask([user, thought(), search, said(), user])],
  [
    "stored reasoning",
    ask([user, thought({ encrypted_content: null }), said(), user], { store: true }),
  ],
  [
    "pictures and documents",
    ask([
      says(
        { type: "input_image", image_url: "data:image/webp;base64,AAAA", detail: "auto" },
        { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" },
        { type: "input_file", file_url: "https://example.com/a.pdf" },
      ),
    ]),
  ],
  [
    "a picture from a tool",
    ask([user, call("a"), output("a", [{ type: "input_image", image_url: "https://e.com/a" }])]),
  ],
  ["tools", ask([user], { tools: [tool, { type: "web_search" }], tool_choice: "auto" })],
];

const refused: readonly (readonly [string, unknown, string])[] = [
  ["no input", ask([]), "empty array"],
  ["no model", { input: [user] }, "$.model"],
  ["an unknown setting", ask([user], { messages: [] }), "$.messages: extra key"],
  ["empty instructions", ask([user], { instructions: "" }), "instructions: empty"],
  ["a choice of tools without tools", ask([user], { tool_choice: "auto" }), "tool_choice"],
  [
    "a tool that is not strict or not",
    ask([user], { tools: [{ type: "function", name: "a", parameters: schema }] }),
    "strict",
  ],
  ["two tools of one name", ask([user], { tools: [tool, tool] }), "duplicate look"],
  [
    "a schema without properties",
    ask([user], { tools: [{ ...tool, parameters: { type: "object" } }] }),
    "properties: missing",
  ],
  [
    "a schema that is no object",
    ask([user], { tools: [{ ...tool, parameters: {} }] }),
    "is not object",
  ],
  ["a model that speaks first", ask([said(), user]), "first one to speak"],
  ["a model that speaks last", ask([user, said()]), "ends with the model"],
  [
    "output text from the user",
    ask([says({ type: "output_text", text: "a" })]),
    "not one of input_text",
  ],
  [
    "input text from the model",
    ask([user, { role: "assistant", content: [{ type: "input_text", text: "a" }] }, user]),
    "not one of output_text",
  ],
  [
    "words without annotations",
    ask([user, { role: "assistant", content: [{ type: "output_text", text: "a" }] }, user]),
    "annotations",
  ],
  [
    "an unknown annotation",
    ask([user, said({}, { annotations: [{ type: "note" }] }), user]),
    "annotations[0].type: unknown",
  ],
  ["an empty text", ask([says({ type: "input_text", text: "" })]), "text: empty"],
  ["empty words", ask([user, said({}, { text: "" }), user]), "text: empty"],
  ["content without parts", ask([says()]), "empty array"],
  [
    "an id with another prefix",
    ask([user, said({ id: "m1", status: "completed" }), user]),
    "does not begin with msg",
  ],
  [
    "a long id",
    ask([user, said({ id: `msg_${"a".repeat(61)}`, status: "completed" }), user]),
    "over 64 long",
  ],
  [
    "an id with other letters",
    ask([user, said({ id: "msg_a+b", status: "completed" }), user]),
    "does not match",
  ],
  ["an id without a status", ask([user, said({ id: "msg_1" }), user]), "status: missing"],
  ["an id of the user", ask([{ ...user, id: "msg_1" }]), "id: extra key"],
  ["an id twice", ask([user, thought(), said(), thought(), said(), user]), "duplicate rs_1"],
  ["a status that is none", ask([user, said({ status: "done" }), user]), "status"],
  ["an unknown phase", ask([user, said({ phase: "middle" }), user]), "phase"],
  ["reasoning at the end of a turn", ask([user, thought(), user]), "without its following item"],
  [
    "reasoning before an output",
    ask([user, call("a"), thought(), output("a")]),
    "without its following item",
  ],
  ["reasoning at the end", ask([user, thought()]), "without its following item"],
  [
    "reasoning that nobody stores",
    ask([user, thought({ encrypted_content: null }), said(), user]),
    "not found",
  ],
  [
    "reasoning without a summary",
    ask([user, { type: "reasoning", id: "rs_1", encrypted_content: "x" }, said(), user]),
    "summary",
  ],
  [
    "reasoning with a foreign part",
    ask([user, thought({ summary: [{ type: "text", text: "a" }] }), said(), user]),
    "summary[0].type",
  ],
  ["a call without its output", ask([user, call("a"), user]), "no output before it for a"],
  ["a call at the end", ask([user, call("a")]), "no output for a"],
  ["an output without its call", ask([user, output("a")]), "no open call a"],
  ["two outputs of one call", ask([user, call("a"), output("a"), output("a")]), "no open call a"],
  ["an output of another kind", ask([user, custom, output("a")]), "no open call a"],
  [
    "words between outputs",
    ask([user, call("a"), call("b"), output("a"), said(), output("b")]),
    "no output before it for b",
  ],
  [
    "one id for two calls",
    ask([user, call("a"), output("a"), call("a"), output("a")]),
    "duplicate a",
  ],
  ["a long call id", ask([user, call("a".repeat(65)), output("a".repeat(65))]), "over 64 long"],
  [
    "a call's id with another prefix",
    ask([user, call("a", { id: "call_1" }), output("a")]),
    "does not begin with fc",
  ],
  [
    "a call with an illegal name",
    ask([user, call("a", { name: "a b" }), output("a")]),
    "does not match",
  ],
  [
    "cut arguments",
    ask([user, call("a", { arguments: "{" }), output("a")]),
    "not the JSON of an object",
  ],
  ["an empty output", ask([user, call("a"), output("a", "")]), "output: empty"],
  ["an output without parts", ask([user, call("a"), output("a", [])]), "empty array"],
  [
    "a picture of an unknown kind",
    ask([says({ type: "input_image", image_url: "data:image/bmp;base64,AAAA" })]),
    "not taken",
  ],
  [
    "a document without a name",
    ask([says({ type: "input_file", file_data: "data:application/pdf;base64,AAAA" })]),
    "filename",
  ],
  [
    "a document from two places",
    ask([says({ type: "input_file", file_id: "f", file_url: "https://e.com" })]),
    "not exactly one",
  ],
  ["an unknown item", ask([user, { type: "thought" }, user]), "unknown item thought"],
  [
    "a hosted tool that still runs",
    ask([user, { ...search, status: "searching" }, said(), user]),
    "status",
  ],
  [
    "a hosted tool with more keys",
    ask([user, { ...search, created_by: "me" }, said(), user]),
    "created_by: extra key",
  ],
  [
    "a reference to what is not stored",
    ask([user, { type: "item_reference", id: "msg_1" }, user]),
    "not found",
  ],
];

describe("validateOpenaiResponses", () => {
  test.each(accepted)("takes %s", (_, body) => {
    expect(validateOpenaiResponses(body)).toEqual([]);
  });

  test.each(refused)("refuses %s", (_, body, expected) => {
    expect(validateOpenaiResponses(body).join("\n")).toContain(expected);
  });
});
