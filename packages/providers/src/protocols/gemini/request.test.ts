import { callId, itemId, partId } from "@millrace/core/writing";
import type { Item, JsonObject, Part } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { geminiProtocol } from "./protocol.ts";

const model = "gemini-3.7-flash";
const native = `gemini/${model}`;
let number = 0;

function item(author: Item["author"], parts: readonly object[], rest: object = {}): Item {
  number += 1;
  const named = parts.map((part, at) => ({ id: partId(`p${at + 1}`), ...part }));
  return { id: itemId(`i${number}`), author, stop: "end", parts: named as Part[], ...rest };
}

const user = (text: string): Item => item("user", [{ kind: "text", text }]);
const said = (parts: readonly object[], rest: object = {}): Item =>
  item("model", parts, { model: native, ...rest });
const call = (id: string, tool: string, rest: object = { input: {} }): object => ({
  kind: "tool_call",
  callId: callId(id),
  tool,
  raw: "{}",
  ...rest,
});
const result = (id: string, tool: string, rest: object = {}): object => ({
  kind: "tool_result",
  callId: callId(id),
  tool,
  status: "ok",
  text: "done",
  ...rest,
});

function bodyOf(
  transcript: readonly Item[],
  rest: Partial<ModelRequest> = {},
  name = model,
): JsonObject {
  return geminiProtocol.request({ transcript, ...rest }, { model: name }).body;
}

function contentsOf(transcript: readonly Item[], name = model): readonly unknown[] {
  return bodyOf(transcript, {}, name)["contents"] as readonly unknown[];
}

const hi = { role: "user", parts: [{ text: "Hi" }] };
const goOn = { role: "user", parts: [{ text: "(continue)" }] };

describe("a request", () => {
  test("has the model and the streaming method in its path", () => {
    const path = (name: string): string =>
      geminiProtocol.request({ transcript: [] }, { model: name }).path;

    expect(path(model)).toBe("/models/gemini-3.7-flash:streamGenerateContent?alt=sse");
    expect(path("tunedModels/my tune")).toBe(
      "/tunedModels/my%20tune:streamGenerateContent?alt=sse",
    );
  });

  test("of an empty transcript has something to answer", () => {
    expect(bodyOf([])).toEqual({ contents: [goOn] });
  });

  test("has instructions, tools and settings", () => {
    const input = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { city: { type: "string" } },
    };

    const body = bodyOf([user("Hi")], {
      instructions: "Be brief.",
      tools: [
        { name: "get_weather", description: "Weather of a city", input },
        { name: "now", input: true },
        { name: "now", input: {} },
        { name: "any", input: {} },
      ],
      settings: {
        generationConfig: { temperature: 0, thinkingConfig: { includeThoughts: true } },
        tools: [{ googleSearch: {} }],
      },
    });

    expect(body).toEqual({
      generationConfig: { temperature: 0, thinkingConfig: { includeThoughts: true } },
      contents: [hi],
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [
        { googleSearch: {} },
        {
          functionDeclarations: [
            {
              name: "get_weather",
              description: "Weather of a city",
              parametersJsonSchema: { type: "object", properties: { city: { type: "string" } } },
            },
            { name: "now", description: "now", parametersJsonSchema: { type: "object" } },
            { name: "any", description: "any", parametersJsonSchema: { type: "object" } },
          ],
        },
      ],
    });
  });

  test("without tools of ours keeps the vendor's, and leaves out blank instructions", () => {
    const body = bodyOf([user("Hi")], {
      instructions: " \n",
      settings: { tools: [{ codeExecution: {} }] },
    });

    expect(body).toEqual({ contents: [hi], tools: [{ codeExecution: {} }] });
  });
});

describe("a turn of the same model", () => {
  test("goes back with its signatures at their places, to the letter", () => {
    const contents = contentsOf([
      user("Hi"),
      said([
        { kind: "reasoning", text: "Hm.", opaque: { thoughtSignature: "AAAA" } },
        { kind: "reasoning", text: "Unsigned." },
        { kind: "text", text: "Let me", metadata: { thoughtSignature: "BBBB+/==" } },
        { kind: "text", text: " see." },
        { kind: "text", text: "", metadata: { thoughtSignature: "CCCC" } },
        call("a", "f", { input: { x: 1 }, opaque: { id: "vendor-a", thoughtSignature: "DDDD" } }),
        call("b", "g"),
      ]),
      item("tool", [
        result("a", "f"),
        result("b", "g", { status: "failed", text: "no such file" }),
      ]),
    ]);

    expect(contents).toEqual([
      hi,
      {
        role: "model",
        parts: [
          { text: "Hm.", thought: true, thoughtSignature: "AAAA" },
          { text: "Let me", thoughtSignature: "BBBB+/==" },
          { text: " see." },
          { text: "", thoughtSignature: "CCCC" },
          { functionCall: { id: "vendor-a", name: "f", args: { x: 1 } }, thoughtSignature: "DDDD" },
          { functionCall: { name: "g", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "vendor-a", name: "f", response: { output: "done" } } },
          { functionResponse: { name: "g", response: { error: "no such file" } } },
        ],
      },
    ]);
  });

  test("keeps ids of calls unique, and names results after their calls", () => {
    const contents = contentsOf([
      user("Hi"),
      said([
        call("a", "f", { input: {}, opaque: { id: "x", thoughtSignature: "AAAA" } }),
        call("a_2", "f", { input: {}, opaque: { id: "x" } }),
      ]),
      item("tool", [result("a", "f"), result("a_2", "renamed")]),
    ]);

    expect(contents).toMatchObject([
      hi,
      { parts: [{ functionCall: { id: "x" } }, { functionCall: { id: "a_2" } }] },
      {
        parts: [
          { functionResponse: { id: "x", name: "f" } },
          { functionResponse: { id: "a_2", name: "f" } },
        ],
      },
    ]);
  });

  test("goes back with what the vendor's own tools did, but for what was cut", () => {
    const code = { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "AAAA" };
    const ran = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } };
    const asked = (id: string): object => ({ toolCall: { toolType: "GOOGLE_SEARCH_WEB", id } });
    const told = (id: string): object => ({ toolResponse: { toolType: "GOOGLE_SEARCH_WEB", id } });
    const custom = (value: object): object => ({
      kind: "custom",
      name: Object.keys(value)[0],
      value,
    });

    const contents = contentsOf([
      user("Hi"),
      said([
        custom(ran),
        custom(code),
        custom(ran),
        custom(ran),
        custom(asked("1")),
        custom(asked("2")),
        custom(told("1")),
        custom(told("3")),
        custom({ functionResponse: { name: "f" } }),
        custom({ audioTranscription: { text: "a" } }),
        custom({ hologram: {} }),
        { kind: "custom", name: "damaged", value: 5 },
        { kind: "custom", name: "executableCode", value: null },
        custom(ran),
        custom(code),
        { kind: "custom", name: "codeExecutionResult", value: {} },
        custom(code),
        { kind: "text", text: "a" },
        custom(ran),
        custom(code),
      ]),
      user("Hi"),
    ]);

    const parts = [code, ran, ran, asked("1"), told("1"), { hologram: {} }, { text: "a" }];
    expect(contents).toEqual([hi, { role: "model", parts }, hi]);
  });

  test("goes back with its pictures", () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const media = { kind: "media", mediaType: "image/png", bytes };

    const contents = contentsOf([
      user("Draw"),
      said([{ ...media, metadata: { thought: true, thoughtSignature: "AAAA" } }, media]),
      user("Again"),
    ]);

    const inlineData = { mimeType: "image/png", data: "AQID" };
    expect(contents).toMatchObject([
      {},
      { parts: [{ inlineData, thought: true, thoughtSignature: "AAAA" }, { inlineData }] },
      {},
    ]);
  });

  test("that is paused goes on with its token, and once it has gone on it is one with the rest", () => {
    const paused = said(
      [
        { kind: "text", text: "One." },
        { kind: "custom", name: "continuationToken", value: { continuationToken: "dG9r" } },
      ],
      { stop: "paused" },
    );
    const rest = said([{ kind: "text", text: " Two." }]);

    expect(bodyOf([user("Hi"), paused])).toEqual({
      contents: [hi, { role: "model", parts: [{ text: "One." }] }],
      continuationToken: "dG9r",
    });
    expect(bodyOf([user("Hi"), paused, rest, user("Hi")])).toEqual({
      contents: [hi, { role: "model", parts: [{ text: "One." }, { text: " Two." }] }, hi],
    });
  });

  test("that is paused without a token is asked to go on", () => {
    const paused = said([{ kind: "text", text: "One." }], { stop: "paused" });

    expect(contentsOf([user("Hi"), paused])).toEqual([
      hi,
      { role: "model", parts: [{ text: "One." }] },
      goOn,
    ]);
  });

  test("whose signature was damaged goes without it", () => {
    const contents = contentsOf([
      user("Hi"),
      said([
        { kind: "reasoning", text: "Hm.", opaque: { thoughtSignature: "no base64!" } },
        { kind: "text", text: "a", metadata: { thoughtSignature: 5 } },
        { kind: "text", text: " ", metadata: { groundingMetadata: {} } },
      ]),
      user("Hi"),
    ]);

    expect(contents).toEqual([hi, { role: "model", parts: [{ text: "a" }] }, hi]);
  });
});

describe("a turn of another model", () => {
  const foreign = [
    user("Hi"),
    item(
      "model",
      [
        { kind: "reasoning", text: "Hm.", opaque: { signature: "secret" } },
        { kind: "text", text: "Let me see.", metadata: { thoughtSignature: "AAAA" } },
        call("a", "f", { input: { x: 1 }, opaque: { id: "x", thoughtSignature: "BBBB" } }),
        call("b", "g"),
      ],
      { model: "anthropic-messages/claude" },
    ),
    item("tool", [result("a", "f"), result("b", "g")]),
  ];

  test("goes without what only that model can read, and its first call skips the check", () => {
    expect(contentsOf(foreign)).toEqual([
      hi,
      {
        role: "model",
        parts: [
          { text: "Let me see." },
          {
            functionCall: { name: "f", args: { x: 1 } },
            thoughtSignature: "skip_thought_signature_validator",
          },
          { functionCall: { name: "g", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "f", response: { output: "done" } } },
          { functionResponse: { name: "g", response: { output: "done" } } },
        ],
      },
    ]);
  });

  test.each(["gemini-2.5-pro", "gemini-2.0-flash", "models/gemini-1.5-pro", "gemma-3-27b-it"])(
    "has no made-up signature for %s",
    (name) => {
      expect(JSON.stringify(contentsOf(foreign, name))).not.toContain("thoughtSignature");
    },
  );

  test.each(["gemini-3-pro-preview", "gemini-flash-latest", "models/gemini-4-argon"])(
    "has one for %s",
    (name) => {
      expect(JSON.stringify(contentsOf(foreign, name))).toContain(
        "skip_thought_signature_validator",
      );
    },
  );

  test("has its pictures shown by the user", () => {
    const contents = contentsOf([
      user("Draw"),
      item("model", [{ kind: "media", mediaType: "image/png", bytes: new Uint8Array(3) }], {
        model: "other/x",
      }),
      user("Hi"),
    ]);

    expect(contents).toMatchObject([
      {},
      { parts: [{ text: "[media, image/png: in the next user message]" }] },
      {
        parts: [
          { text: "Made by the assistant:" },
          { inlineData: { mimeType: "image/png", data: "AAAA" } },
          { text: "Hi" },
        ],
      },
    ]);
  });
});

describe("a transcript that was cut", () => {
  test("has an answer to each call, and `{}` for arguments that can't be used", () => {
    const contents = contentsOf([
      user("Hi"),
      said([{ kind: "text", text: "Wri" }, call("a", "write", { fault: { code: "truncated" } })], {
        stop: "aborted",
        cause: { code: "aborted", message: "by the user" },
      }),
      user("Go on"),
    ]);

    expect(contents).toEqual([
      hi,
      {
        role: "model",
        parts: [
          { text: "Wri" },
          {
            functionCall: { name: "write", args: {} },
            thoughtSignature: "skip_thought_signature_validator",
          },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: { name: "write", response: { error: expect.any(String) as string } },
          },
        ],
      },
      { role: "user", parts: [{ text: "Go on" }] },
    ]);
  });

  test("has no empty contents, and no two of one author in a row", () => {
    const contents = contentsOf([
      user("Hi"),
      said([{ kind: "reasoning", text: "Hm." }], { stop: "aborted", cause: { code: "aborted" } }),
      user("Hi"),
      said([{ kind: "text", text: "a" }]),
      said([call("a", "f")]),
      item("tool", [result("a", "f")]),
    ]);

    expect(contents).toMatchObject([
      { role: "user", parts: [{ text: "Hi" }, { text: "Hi" }] },
      { role: "model", parts: [{ text: "a" }, { functionCall: { name: "f" } }] },
      { role: "user", parts: [{ functionResponse: { name: "f" } }] },
    ]);
  });
});

test("what a tool made goes inside its result, or behind all results", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const transcript = [
    user("Hi"),
    said([call("a", "f"), call("b", "g")]),
    item("tool", [
      result("a", "f"),
      { kind: "media", mediaType: "image/png", bytes },
      { kind: "media", mediaType: "audio/wav", bytes },
      result("b", "g"),
    ]),
  ];
  const picture = { inlineData: { mimeType: "image/png", data: "AQID" } };
  const sound = { inlineData: { mimeType: "audio/wav", data: "AQID" } };
  const response = { output: "done" };

  expect(contentsOf(transcript).slice(2)).toEqual([
    {
      role: "user",
      parts: [
        { functionResponse: { name: "f", response, parts: [picture] } },
        { functionResponse: { name: "g", response } },
      ],
    },
    { role: "user", parts: [sound] },
  ]);
  expect(contentsOf(transcript, "gemini-2.5-pro").slice(2)).toEqual([
    {
      role: "user",
      parts: [
        { functionResponse: { name: "f", response } },
        { functionResponse: { name: "g", response } },
      ],
    },
    { role: "user", parts: [picture, sound] },
  ]);
});
