import type { Json, JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { validateGemini } from "./gemini.ts";

const hi = user({ text: "hi" });
const code = { executableCode: { language: "PYTHON", code: "1" } };
const outcome = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } };

function ask(contents: readonly Json[], more: JsonObject = {}): JsonObject {
  return { contents, ...more };
}

function user(...parts: readonly Json[]): JsonObject {
  return { role: "user", parts };
}

function says(...parts: readonly Json[]): JsonObject {
  return { role: "model", parts };
}

function call(name: string, more: JsonObject = {}): JsonObject {
  return { functionCall: { name, args: {}, ...more } };
}

function result(name: string, more: JsonObject = {}): JsonObject {
  return { functionResponse: { name, response: { output: "done" }, ...more } };
}

function declared(...functionDeclarations: readonly Json[]): JsonObject {
  return { tools: [{ functionDeclarations }] };
}

function data(mimeType: string, bytes = "AAAA"): JsonObject {
  return { inlineData: { mimeType, data: bytes } };
}

const accepted: readonly (readonly [string, JsonObject])[] = [
  ["one question", ask([hi], { systemInstruction: { parts: [{ text: "be kind" }] } })],
  [
    "calls with their results",
    ask([hi, says({ text: "a" }, call("a"), call("b")), user(result("a"), result("b"))]),
  ],
  [
    "calls with ids",
    ask([hi, says(call("a", { id: "1" })), user(result("a", { id: "1" }), { text: "b" })]),
  ],
  ["a question behind results", ask([hi, says(call("a")), user(result("a")), hi])],
  ["a signed text that is empty", ask([hi, says({ text: "", thoughtSignature: "AA_-" }), hi])],
  [
    "a thought",
    ask([hi, says({ text: "hm", thought: true, thoughtSignature: "AAA=" }, { text: "a" }), hi]),
  ],
  ["code with two results", ask([hi, says(code, outcome, outcome, { text: "a" }), hi])],
  [
    "pictures and documents",
    ask([
      user(data("image/png"), data("application/pdf"), {
        fileData: { fileUri: "https://e.com/a", mimeType: "image/png" },
      }),
    ]),
  ],
  [
    "tools",
    ask(
      [hi],
      declared({ name: "a.b:c-d", description: "", parametersJsonSchema: { type: "object" } }),
    ),
  ],
];

const refused: readonly (readonly [string, unknown, string])[] = [
  ["no contents", ask([]), "empty array"],
  ["an unknown setting", ask([hi], { temperature: 1 }), "$.temperature: extra key"],
  [
    "empty instructions",
    ask([hi], { systemInstruction: { parts: [{ text: "" }] } }),
    "text: empty",
  ],
  ["instructions without parts", ask([hi], { systemInstruction: { parts: [] } }), "empty array"],
  ["a model that speaks first", ask([says({ text: "a" }), hi]), "first one is not the user"],
  ["a model that speaks last", ask([hi, says({ text: "a" })]), "last one is not the user"],
  [
    "a question behind a question behind results",
    ask([hi, says(call("a")), user(result("a"), { text: "a" }), hi]),
    "user twice in a row",
  ],
  ["one role twice", ask([hi, hi]), "user twice in a row"],
  [
    "calls in a turn of their own",
    ask([hi, says({ text: "a" }), says(call("a")), user(result("a"))]),
    "model twice in a row",
  ],
  ["an unknown role", ask([{ role: "assistant", parts: [{ text: "a" }] }]), "role"],
  ["a turn without parts", ask([hi, says(), hi]), "empty array"],
  ["a part without data", ask([user({})]), "0 data fields"],
  [
    "a part with two sorts of data",
    ask([user({ text: "a", ...data("image/png") })]),
    "2 data fields",
  ],
  ["an empty text", ask([user({ text: "" })]), "text: empty"],
  ["an extra key", ask([user({ text: "a", id: "1" })]), "id: extra key"],
  [
    "a signature that is no base64",
    ask([hi, says({ text: "a", thoughtSignature: "a b" }), hi]),
    "not base64",
  ],
  [
    "a signature of impossible length",
    ask([hi, says({ text: "a", thoughtSignature: "AAAAA" }), hi]),
    "not base64",
  ],
  [
    "a signature by the user",
    ask([user({ text: "a", thoughtSignature: "AAAA" })]),
    "not taken from user",
  ],
  ["a call by the user", ask([user(call("a"))]), "functionCall is not taken from user"],
  [
    "a result by the model",
    ask([hi, says(result("a")), hi]),
    "functionResponse is not taken from model",
  ],
  [
    "a call without its result",
    ask([hi, says(call("a"), call("b")), user(result("a"))]),
    "2 calls, but 1 results",
  ],
  ["a call that nobody answers", ask([hi, says(call("a")), hi]), "1 calls, but 0 results"],
  [
    "a result too many",
    ask([hi, says(call("a")), user(result("a"), result("a"))]),
    "1 calls, but 2 results",
  ],
  [
    "a result without its call",
    ask([hi, says({ text: "a" }), user(result("a"))]),
    "0 calls, but 1 results",
  ],
  ["a result at the beginning", ask([user(result("a"))]), "without a turn of calls"],
  ["a result of another name", ask([hi, says(call("a")), user(result("b"))]), "another name"],
  [
    "a result of another id",
    ask([hi, says(call("a", { id: "1" })), user(result("a", { id: "2" }))]),
    "another id",
  ],
  [
    "a result without the call's id",
    ask([hi, says(call("a", { id: "1" })), user(result("a"))]),
    "another id",
  ],
  [
    "one id for two calls",
    ask([
      hi,
      says(call("a", { id: "1" }), call("b", { id: "1" })),
      user(result("a", { id: "1" }), result("b", { id: "1" })),
    ]),
    "duplicate 1",
  ],
  [
    "a name that begins with a digit",
    ask([hi, says(call("1a")), user(result("1a"))]),
    "does not match",
  ],
  [
    "a long name",
    ask([hi, says(call("a".repeat(65))), user(result("a".repeat(65)))]),
    "does not match",
  ],
  [
    "arguments that are text",
    ask([hi, says(call("a", { args: "{}" })), user(result("a"))]),
    "args: not an object",
  ],
  [
    "a result that is text",
    ask([hi, says(call("a")), user(result("a", { response: "b" }))]),
    "response: not an object",
  ],
  ["code without its result", ask([hi, says(code, { text: "a" }), hi]), "code without its result"],
  [
    "a result without its code",
    ask([hi, says({ text: "a" }, outcome), hi]),
    "result without its code",
  ],
  [
    "an unknown outcome",
    ask([hi, says(code, { codeExecutionResult: { outcome: "OK" } }), hi]),
    "outcome",
  ],
  ["a picture that moves", ask([user(data("image/gif"))]), "mimeType"],
  ["JSON as a file", ask([user(data("application/json"))]), "mimeType"],
  ["a picture without bytes", ask([user(data("image/png", ""))]), "data: empty"],
  ["a picture that is no base64", ask([user(data("image/png", "AA"))]), "not base64"],
  ["a file on a disk", ask([user({ fileData: { fileUri: "file:///a" } })]), "does not match"],
  ["two tools of one name", ask([hi], declared({ name: "a" }, { name: "a" })), "duplicate a"],
  ["a tool with an illegal name", ask([hi], declared({ name: "a b" })), "does not match"],
  [
    "two schemas for one tool",
    ask([hi], declared({ name: "a", parameters: {}, parametersJsonSchema: { type: "object" } })),
    "both parameters",
  ],
  [
    "a schema that is no object",
    ask([hi], declared({ name: "a", parametersJsonSchema: { type: "string" } })),
    "is not object",
  ],
];

describe("validateGemini", () => {
  test.each(accepted)("takes %s", (_, body) => {
    expect(validateGemini(body)).toEqual([]);
  });

  test.each(refused)("refuses %s", (_, body, expected) => {
    expect(validateGemini(body).join("\n")).toContain(expected);
  });

  test("demands of the third generation that the first call of each turn is signed", () => {
    const unsigned = ask([hi, says(call("a"), call("b")), user(result("a"), result("b"))]);
    const first = { ...call("a"), thoughtSignature: "AAAA" };
    const signed = ask([hi, says(first, call("b")), user(result("a"), result("b"))]);

    expect(validateGemini(unsigned, { model: "gemini-3-pro-preview" }).join()).toContain(
      "thoughtSignature",
    );
    expect(validateGemini(unsigned, { model: "gemini-2.5-flash" })).toEqual([]);
    expect(validateGemini(signed, { model: "gemini-3-pro-preview" })).toEqual([]);
  });

  test("takes listed data fields unchecked, from the model only", () => {
    const odd = { hologram: { size: 3 } };

    expect(validateGemini(ask([hi, says(odd), hi]), { later: ["hologram"] })).toEqual([]);
    expect(validateGemini(ask([hi, says(odd), hi]))).not.toEqual([]);
    expect(validateGemini(ask([user(odd)]), { later: ["hologram"] })).not.toEqual([]);
  });

  test("takes pictures inside results from the third generation on", () => {
    const signed = { ...call("a"), thoughtSignature: "AAAA" };
    const withParts = (part: Json): JsonObject =>
      ask([hi, says(signed), user(result("a", { parts: [part] }))]);
    const model = "gemini-3-pro-preview";

    expect(validateGemini(withParts(data("image/png")), { model })).toEqual([]);
    expect(validateGemini(withParts(data("image/heic")), { model })).not.toEqual([]);
    expect(validateGemini(withParts({ text: "a" }), { model })).not.toEqual([]);
    expect(validateGemini(withParts(data("image/png")))).not.toEqual([]);
  });
});
