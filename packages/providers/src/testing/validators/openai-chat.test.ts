import type { Json, JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { validateOpenaiChat } from "./openai-chat.ts";

const user = { role: "user", content: "hi" };
const schema = { type: "object", properties: {} };

function chat(messages: readonly Json[], more: JsonObject = {}): JsonObject {
  return { model: "gpt-5", messages, ...more };
}

function call(id: string, name = "look", text = "{}"): JsonObject {
  return { id, type: "function", function: { name, arguments: text } };
}

function calls(...list: readonly Json[]): JsonObject {
  return { role: "assistant", content: null, tool_calls: list };
}

function result(id: string, content: Json = "done"): JsonObject {
  return { role: "tool", tool_call_id: id, content };
}

function says(...parts: readonly Json[]): JsonObject {
  return { role: "user", content: parts };
}

function tools(...list: readonly Json[]): JsonObject {
  return { tools: list.map((tool) => ({ type: "function", function: tool })) };
}

function picture(url: string): JsonObject {
  return { type: "image_url", image_url: { url } };
}

const accepted: readonly (readonly [string, JsonObject])[] = [
  ["one question", chat([user], { stream: true, stream_options: { include_usage: true } })],
  ["instructions first", chat([{ role: "system", content: "be kind" }, user])],
  [
    "two calls with their results",
    chat([user, calls(call("a"), call("b")), result("b"), result("a")]),
  ],
  ["an answer, then a question", chat([user, { role: "assistant", content: "yes" }, user])],
  [
    "pictures, sounds and documents",
    chat([
      says(
        { type: "text", text: "see" },
        picture("https://example.com/a.png"),
        picture("data:image/png;base64,AAAA"),
        { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
        {
          type: "file",
          file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
        },
      ),
    ]),
  ],
  ["tools", chat([user], tools({ name: "look", description: "", parameters: schema }))],
  [
    "a custom call",
    chat([
      user,
      calls({ id: "a", type: "custom", custom: { name: "sh", input: "ls" } }),
      result("a", [{ type: "text", text: "b" }]),
    ]),
  ],
  ["a refusal", chat([user, { role: "assistant", refusal: "no", content: null }, user])],
];

const refused: readonly (readonly [string, unknown, string])[] = [
  [
    "a body that is undefined somewhere",
    { model: "m", messages: [user], stop: undefined },
    "not_json",
  ],
  ["no messages", chat([]), "empty array"],
  ["no model", { messages: [user] }, "$.model"],
  ["an unknown setting", chat([user], { thinking: true }), "$.thinking: extra key"],
  ["options of a stream that is none", chat([user], { stream_options: {} }), "streaming"],
  ["a choice of tools without tools", chat([user], { tool_choice: "auto" }), "tool_choice"],
  ["parallel calls without tools", chat([user], { parallel_tool_calls: true }), "parallel"],
  ["an empty list of tools", chat([user], { tools: [] }), "empty array"],
  ["two tools of one name", chat([user], tools({ name: "a" }, { name: "a" })), "duplicate"],
  ["a tool with a dotted name", chat([user], tools({ name: "a.b" })), "does not match"],
  ["a tool with a long name", chat([user], tools({ name: "a".repeat(65) })), "does not match"],
  [
    "a schema that is no object",
    chat([user], tools({ name: "a", parameters: { type: "array" } })),
    "is not object",
  ],
  [
    "a schema without properties",
    chat([user], tools({ name: "a", parameters: { type: "object" } })),
    "properties: missing",
  ],
  [
    "a schema that is a choice",
    chat([user], tools({ name: "a", parameters: { ...schema, anyOf: [] } })),
    "anyOf",
  ],
  [
    "a model that speaks first",
    chat([{ role: "assistant", content: "a" }, user]),
    "first one to speak",
  ],
  [
    "a model that speaks last",
    chat([user, { role: "assistant", content: "a" }]),
    "ends with the assistant",
  ],
  [
    "instructions in the middle",
    chat([user, { role: "system", content: "a" }, user]),
    "instructions behind",
  ],
  ["an unknown role", chat([{ role: "agent", content: "a" }, user]), "role"],
  ["an empty question", chat([{ role: "user", content: "" }]), "content: empty"],
  ["a question without parts", chat([says()]), "empty array"],
  ["an empty text part", chat([says({ type: "text", text: "" })]), "text: empty"],
  [
    "a model that says nothing",
    chat([user, { role: "assistant", content: null }, user]),
    "says and calls nothing",
  ],
  ["an empty list of calls", chat([user, calls(), user]), "empty array"],
  [
    "a call without its result",
    chat([user, calls(call("a"), call("b")), result("a"), user]),
    "without an answer: b",
  ],
  ["a call at the end", chat([user, calls(call("a"))]), "ends with calls"],
  ["a result without its call", chat([user, result("a")]), "answers no open call"],
  [
    "two results of one call",
    chat([user, calls(call("a")), result("a"), result("a")]),
    "answers no open call",
  ],
  [
    "a result behind a question",
    chat([user, calls(call("a")), user, result("a")]),
    "without an answer",
  ],
  ["one id for two calls", chat([user, calls(call("a"), call("a")), result("a")]), "duplicate a"],
  [
    "one id for calls of two turns",
    chat([user, calls(call("a")), result("a"), calls(call("a")), result("a")]),
    "duplicate a",
  ],
  ["a long id", chat([user, calls(call("a".repeat(41))), result("a".repeat(41))]), "over 40 long"],
  [
    "a call with an illegal name",
    chat([user, calls(call("a", "lo ok")), result("a")]),
    "does not match",
  ],
  [
    "cut arguments",
    chat([user, calls(call("a", "look", '{"a":')), result("a")]),
    "not the JSON of an object",
  ],
  [
    "arguments that are an array",
    chat([user, calls(call("a", "look", "[]")), result("a")]),
    "not the JSON of an object",
  ],
  [
    "a call with a signature",
    chat([user, calls({ ...call("a"), extra_content: {} }), result("a")]),
    "extra_content",
  ],
  [
    "reasoning",
    chat([user, { role: "assistant", content: "a", reasoning_content: "b" }, user]),
    "reasoning_content",
  ],
  ["an empty result", chat([user, calls(call("a")), result("a", "")]), "content: empty"],
  [
    "a result with a picture",
    chat([user, calls(call("a")), result("a", [picture("https://e.com")])]),
    "image_url",
  ],
  [
    "a picture of an unknown kind",
    chat([says(picture("data:image/bmp;base64,AAAA"))]),
    "not taken",
  ],
  [
    "a picture that is no base64",
    chat([says(picture("data:image/png;base64,A*A="))]),
    "not base64",
  ],
  ["a picture without bytes", chat([says(picture("data:image/png;base64,"))]), "empty"],
  ["a picture on a disk", chat([says(picture("file:///a.png"))]), "not an address"],
  [
    "a sound of an unknown kind",
    chat([says({ type: "input_audio", input_audio: { data: "AAAA", format: "ogg" } })]),
    "format",
  ],
  [
    "a document that is no PDF",
    chat([says({ type: "file", file: { filename: "a", file_data: "data:text/csv;base64,AAAA" } })]),
    "not taken",
  ],
  [
    "a document without a name",
    chat([says({ type: "file", file: { file_data: "data:application/pdf;base64,AAAA" } })]),
    "filename",
  ],
];

describe("validateOpenaiChat", () => {
  test.each(accepted)("takes %s", (_, body) => {
    expect(validateOpenaiChat(body)).toEqual([]);
  });

  test.each(refused)("refuses %s", (_, body, expected) => {
    expect(validateOpenaiChat(body).join("\n")).toContain(expected);
  });

  test("takes what imitators add if that is allowed", () => {
    const body = chat([
      user,
      {
        ...calls({ ...call("a"), extra_content: { google: { thought_signature: "AA==" } } }),
        reasoning_content: "b",
        reasoning_details: [],
        content: [{ type: "thinking", thinking: [{ type: "text", text: "c" }] }],
      },
      result("a"),
    ]);

    expect(validateOpenaiChat(body, { extensions: true })).toEqual([]);
    expect(validateOpenaiChat(body).map((line) => line.slice("$.messages[1].".length))).toEqual(
      expect.arrayContaining([
        "reasoning_content: extra key",
        "reasoning_details: extra key",
        "content[0].thinking: extra key",
        "tool_calls[0].extra_content: extra key",
      ]),
    );
  });
});
