import type { Json, JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { validateAnthropicMessages } from "./anthropic-messages.ts";

const tools = [{ name: "look", input_schema: { type: "object" } }];
const thinking = { thinking: { type: "enabled", budget_tokens: 1024 }, tools };
const thought = { type: "thinking", thinking: "hm", signature: "c2ln" };
const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
const hits = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };

function ask(messages: readonly Json[], more: JsonObject = {}): JsonObject {
  return { model: "claude", max_tokens: 2048, messages, ...more };
}

function user(...content: readonly Json[]): JsonObject {
  return { role: "user", content };
}

function says(...content: readonly Json[]): JsonObject {
  return { role: "assistant", content };
}

function text(value: string, more: JsonObject = {}): JsonObject {
  return { type: "text", text: value, ...more };
}

function use(id: string, more: JsonObject = {}): JsonObject {
  return { type: "tool_use", id, name: "look", input: {}, ...more };
}

function result(id: string, more: JsonObject = {}): JsonObject {
  return { type: "tool_result", tool_use_id: id, content: "done", ...more };
}

function image(source: JsonObject): JsonObject {
  return { type: "image", source };
}

function png(data: string, type = "image/png"): JsonObject {
  return image({ type: "base64", media_type: type, data });
}

const hi = user(text("hi"));
const cited = {
  type: "page_location",
  cited_text: "a",
  document_index: 0,
  document_title: null,
  start_page_number: 1,
  end_page_number: 2,
};

const accepted: readonly (readonly [string, JsonObject])[] = [
  ["one question", ask([hi], { system: "be kind", stream: true })],
  ["a question as text", ask([{ role: "user", content: "hi" }])],
  [
    "calls with their results",
    ask([hi, says(text("a"), use("a"), use("b")), user(result("b"), result("a"))], { tools }),
  ],
  ["results and then words", ask([hi, says(use("a")), user(result("a"), text("and?"))], { tools })],
  ["thinking in a running loop", ask([hi, says(thought, use("a")), user(result("a"))], thinking)],
  [
    "a loop that thought only at its start",
    ask(
      [hi, says(thought, use("a")), user(result("a")), says(use("b")), user(result("b"))],
      thinking,
    ),
  ],
  ["thinking that is over", ask([hi, says(thought, text("a")), hi])],
  ["a turn without thinking that is over", ask([hi, says(text("a")), hi], thinking)],
  [
    "adaptive thinking without thoughts",
    ask([hi, says(use("a")), user(result("a"))], { tools, thinking: { type: "adaptive" } }),
  ],
  ["a tool of the vendor", ask([hi, says(search, hits, text("a")), hi])],
  [
    "thinking behind a summary",
    ask(
      [hi, says({ type: "compaction", content: "a" }, thought, use("a")), user(result("a"))],
      thinking,
    ),
  ],
  ["a paused turn", ask([hi, says(text("a"), search)])],
  ["a turn that waits behind a summary", ask([hi, says({ type: "compaction", content: "a" })])],
  [
    "a call by the vendor's code",
    ask(
      [
        hi,
        says(
          { ...search, name: "code_execution" },
          use("a", { caller: { type: "code_execution_20260120", tool_id: "srvtoolu_1" } }),
        ),
        user(result("a")),
        says({ ...hits, type: "code_execution_tool_result", content: {} }, text("b")),
        hi,
      ],
      { tools },
    ),
  ],
  [
    "pictures and documents",
    ask([
      user(png("AAAA"), image({ type: "url", url: "https://e.com/a" }), {
        type: "document",
        title: "a",
        source: { type: "text", media_type: "text/plain", data: "b" },
      }),
    ]),
  ],
  ["citations", ask([hi, says(text("a", { citations: [cited] })), hi])],
  [
    "a failed call",
    ask([hi, says(use("a")), user(result("a", { is_error: true }))], {
      tools,
      tool_choice: { type: "none" },
    }),
  ],
];

const refused: readonly (readonly [string, unknown, string])[] = [
  ["no messages", ask([]), "empty array"],
  ["no limit", { model: "claude", messages: [hi] }, "max_tokens"],
  ["an unknown setting", ask([hi], { instructions: "a" }), "$.instructions: extra key"],
  ["empty instructions", ask([hi], { system: " " }), "$.system: empty"],
  ["empty instructions in a block", ask([hi], { system: [text("")] }), "$.system[0].text: empty"],
  [
    "a small budget of thinking",
    ask([hi], { thinking: { type: "enabled", budget_tokens: 1000 } }),
    "under 1024",
  ],
  [
    "a budget over the limit",
    ask([hi], { thinking: { type: "enabled", budget_tokens: 2048 } }),
    "not more than the budget",
  ],
  [
    "a forced tool while thinking",
    ask([hi], { ...thinking, tool_choice: { type: "any" } }),
    "forces a tool",
  ],
  [
    "a temperature while thinking",
    ask([hi], { ...thinking, temperature: 0 }),
    "not 1 while thinking",
  ],
  ["a choice without tools", ask([hi], { tool_choice: { type: "none" } }), "only taken with tools"],
  [
    "a choice of an unknown tool",
    ask([hi], { tools, tool_choice: { type: "tool", name: "a" } }),
    "not among the tools",
  ],
  [
    "a schema that is no object",
    ask([hi], { tools: [{ name: "a", input_schema: {} }] }),
    "is not object",
  ],
  [
    "a schema that is a choice",
    ask([hi], { tools: [{ name: "a", input_schema: { type: "object", oneOf: [] } }] }),
    "oneOf",
  ],
  ["two tools of one name", ask([hi], { tools: [...tools, ...tools] }), "duplicate look"],
  [
    "a tool with an illegal name",
    ask([hi], { tools: [{ name: "a.b", input_schema: { type: "object" } }] }),
    "does not match",
  ],
  ["a model that speaks first", ask([says(text("a")), hi]), "first one is not the user"],
  ["a model that speaks last", ask([hi, says(text("a"))]), "ends with the assistant"],
  ["white space at the end", ask([hi, says(search, hits, text("a "))]), "ends in white space"],
  ["one role twice", ask([hi, hi]), "user twice in a row"],
  ["an unknown role", ask([{ role: "tool", content: "a" }]), "role"],
  ["a message without content", ask([user()]), "empty array"],
  ["an empty text", ask([user(text(""))]), "text: empty"],
  ["a text of white space", ask([user(text(" \n"))]), "only white space"],
  ["an empty message as text", ask([{ role: "user", content: "" }]), "empty"],
  ["an unknown block", ask([user({ type: "video" })]), "unknown block video"],
  ["an extra key in a block", ask([user(text("a", { id: "1" }))]), "id: extra key"],
  ["a call by the user", ask([user(use("a"))], { tools }), "tool_use is not taken from user"],
  ["a picture by the model", ask([hi, says(png("AAAA")), hi]), "image is not taken from assistant"],
  [
    "a call without its result",
    ask([hi, says(use("a")), hi], { tools }),
    "no result right behind a",
  ],
  ["a call at the end", ask([hi, says(use("a"))], { tools }), "no result for a"],
  [
    "a result without its call",
    ask([user(result("a"))], { tools }),
    "without its call before it: a",
  ],
  [
    "two results of one call",
    ask([hi, says(use("a")), user(result("a"), result("a"))], { tools }),
    "without its call before it: a",
  ],
  [
    "a result behind words",
    ask([hi, says(use("a")), user(text("b"), result("a"))], { tools }),
    "stands behind other content",
  ],
  [
    "one id for two calls",
    ask([hi, says(use("a")), user(result("a")), says(use("a")), user(result("a"))], { tools }),
    "duplicate a",
  ],
  ["calls without tools", ask([hi, says(use("a")), user(result("a"))]), "$.tools: missing"],
  ["an illegal id", ask([hi, says(use("a.b")), user(result("a.b"))], { tools }), "does not match"],
  [
    "an input that is text",
    ask([hi, says(use("a", { input: "{}" })), user(result("a"))], { tools }),
    "input: not an object",
  ],
  [
    "an error without words",
    ask([hi, says(use("a")), user(result("a", { is_error: true, content: "" }))], { tools }),
    "content is empty",
  ],
  [
    "an error with a picture",
    ask([hi, says(use("a")), user(result("a", { is_error: true, content: [png("AAAA")] }))], {
      tools,
    }),
    "not text though it is an error",
  ],
  [
    "a result with an empty text",
    ask([hi, says(use("a")), user(result("a", { content: [text("")] }))], { tools }),
    "text: empty",
  ],
  [
    "unsigned thinking",
    ask([hi, says({ type: "thinking", thinking: "a" }, text("b")), hi]),
    "signature",
  ],
  [
    "empty redacted thinking",
    ask([hi, says({ type: "redacted_thinking", data: "" }, text("b")), hi]),
    "data: empty",
  ],
  [
    "thinking at the end of a turn",
    ask([hi, says(text("a"), thought), hi]),
    "final block is thinking",
  ],
  [
    "thinking behind a call",
    ask([hi, says(thought, use("a"), thought, text("b")), user(result("a"))], thinking),
    "thinking behind a tool_use",
  ],
  [
    "a loop without thinking while it is enabled",
    ask([hi, says(use("a")), user(result("a"))], thinking),
    "does not start with thinking",
  ],
  [
    "a loop that began without thinking",
    ask(
      [hi, says(use("a")), user(result("a")), says(thought, use("b")), user(result("b"))],
      thinking,
    ),
    "does not start with thinking",
  ],
  [
    "a loop with thinking while it is disabled",
    ask([hi, says(thought, use("a")), user(result("a"))], { tools }),
    "is disabled",
  ],
  [
    "a tool of the vendor without its result",
    ask([hi, says(search, text("a")), hi]),
    "without its result: srvtoolu_1",
  ],
  [
    "a result of the vendor without its tool",
    ask([hi, says(hits, text("a")), hi]),
    "without its use before it",
  ],
  [
    "an id that is not the vendor's",
    ask([hi, says({ ...search, id: "toolu_1" }, { ...hits, tool_use_id: "toolu_1" }), hi]),
    "does not match",
  ],
  [
    "a citation with the vendor's file",
    ask([hi, says(text("a", { citations: [{ ...cited, file_id: null }] })), hi]),
    "file_id: extra key",
  ],
  ["a picture of an unknown kind", ask([user(png("AAAA", "image/bmp"))]), "media_type"],
  ["a picture without bytes", ask([user(png(""))]), "data: empty"],
  ["a picture that is no base64", ask([user(png("AAA"))]), "not base64"],
  [
    "a picture over http",
    ask([user(image({ type: "url", url: "http://e.com/a" }))]),
    "does not match",
  ],
  [
    "a document that is no PDF",
    ask([
      user({ type: "document", source: { type: "base64", media_type: "text/csv", data: "AAAA" } }),
    ]),
    "media_type",
  ],
  [
    "a document with an empty title",
    ask([user({ type: "document", title: "", source: { type: "url", url: "https://e.com" } })]),
    "title: empty",
  ],
];

describe("validateAnthropicMessages", () => {
  test.each(accepted)("takes %s", (_, body) => {
    expect(validateAnthropicMessages(body)).toEqual([]);
  });

  test.each(refused)("refuses %s", (_, body, expected) => {
    expect(validateAnthropicMessages(body).join("\n")).toContain(expected);
  });

  test("takes listed blocks unchecked, from the assistant only", () => {
    const odd = { type: "hologram", size: 3 };

    expect(validateAnthropicMessages(ask([hi, says(odd), hi]), { later: ["hologram"] })).toEqual(
      [],
    );
    expect(validateAnthropicMessages(ask([hi, says(odd), hi]))).not.toEqual([]);
    expect(validateAnthropicMessages(ask([user(odd)]), { later: ["hologram"] })).not.toEqual([]);
  });
});
