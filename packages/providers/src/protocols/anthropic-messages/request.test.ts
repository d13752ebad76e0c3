import type { FilePart, JsonObject, MediaPart, Part } from "@millrace/core";
import { describe, expect, test } from "vitest";
import {
  answers,
  bodyOf,
  call,
  file,
  item,
  look,
  media,
  messagesOf,
  model,
  native,
  result,
  textBlock,
  says,
  text,
  user,
} from "../../testing/anthropic-items.ts";
import { anthropicMessagesProtocol } from "./protocol.ts";

describe("the request", () => {
  test("has the version, asks for a stream and leaves room for an answer", () => {
    const request = anthropicMessagesProtocol.request(
      { transcript: [user("Hi")], instructions: "Be brief.", tools: [look] },
      { model },
    );

    expect(request).toEqual({
      path: "/v1/messages",
      headers: { "anthropic-version": "2023-06-01" },
      body: {
        model,
        max_tokens: 64_000,
        stream: true,
        system: "Be brief.",
        tools: [{ name: "look", description: "Looks.", input_schema: { type: "object" } }],
        messages: [{ role: "user", content: [textBlock("Hi")] }],
      },
    });
  });

  test.each([["beta 1"], [""], [7]])("refuses %j among the betas", (name) => {
    const request = { transcript: [user("Hi")], settings: { betas: ["a-1", name] } };

    expect(() => anthropicMessagesProtocol.request(request, { model })).toThrow(/among betas/);
  });

  test("takes settings as they are", () => {
    const settings = {
      temperature: 0.5,
      max_tokens: 100,
      betas: ["a-1", "b-2"],
      system: [{ type: "text", text: "Rules.", cache_control: { type: "ephemeral" } }],
      tools: [
        { type: "web_search_20250305", name: "web_search" },
        { name: "look", input_schema: { type: "object" } },
      ],
      tool_choice: { type: "auto" },
    };

    const { body, headers } = anthropicMessagesProtocol.request(
      { transcript: [user("Hi")], instructions: "Be brief.", tools: [look], settings },
      { model },
    );

    expect(headers).toEqual({ "anthropic-version": "2023-06-01", "anthropic-beta": "a-1,b-2" });
    expect(body).toMatchObject({ temperature: 0.5, max_tokens: 100, model, stream: true });
    expect(body).not.toHaveProperty("betas");
    expect(body["system"]).toEqual([
      textBlock("Be brief."),
      { type: "text", text: "Rules.", cache_control: { type: "ephemeral" } },
    ]);
    expect(body["tools"]).toEqual([
      { name: "look", description: "Looks.", input_schema: { type: "object" } },
      { type: "web_search_20250305", name: "web_search" },
    ]);
    expect(body["tool_choice"]).toEqual({ type: "auto" });
  });

  test("of an empty transcript lets the user speak", () => {
    expect(messagesOf([])).toEqual([{ role: "user", content: [textBlock("(continue)")] }]);
  });

  test("leaves out instructions, settings and choices that are empty", () => {
    const settings = { system: " ", tool_choice: { type: "any" } };

    const body = bodyOf([user("Hi")], { instructions: "\n", tools: [], settings });

    expect(Object.keys(body).toSorted()).toEqual(["max_tokens", "messages", "model", "stream"]);
  });

  test.each([
    [true, { type: "object" }],
    [{}, { type: "object" }],
    [
      { type: ["object", "null"], properties: {} },
      { type: "object", properties: {} },
    ],
    [
      {
        description: "either",
        anyOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { type: "object", properties: { b: { type: "string" } } },
        ],
        properties: { a: { type: "number" } },
      },
      {
        type: "object",
        description: "either",
        properties: {
          a: { allOf: [{ type: "number" }, { type: "string" }] },
          b: { type: "string" },
        },
      },
    ],
  ])("has an object at the top of the schema %j", (input, schema) => {
    const body = bodyOf([user("Hi")], { tools: [{ name: "look", input }] });

    expect(body["tools"]).toMatchObject([{ name: "look", input_schema: schema }]);
  });
});

describe("users and their attachments", () => {
  test("two users in a row are one message, and white space is no text", () => {
    expect(messagesOf([user("Hi", " \n", "\u001c\u0085"), user("there")])).toEqual([
      { role: "user", content: [textBlock("Hi"), textBlock("there")] },
    ]);
  });

  test("half a character is mended", () => {
    expect(messagesOf([user("Hi \ud83d")])).toEqual([
      { role: "user", content: [textBlock("Hi \uFFFD")] },
    ]);
  });

  const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47]);
  const pdf = Uint8Array.from([0x25, 0x50, 0x44, 0x46]);
  const base64 = (media_type: string, data: string): JsonObject => ({
    type: "base64",
    media_type,
    data,
  });

  test.each<[string, MediaPart | FilePart, JsonObject]>([
    [
      "an image",
      media("image/png", { bytes: png }),
      { type: "image", source: base64("image/png", "iVBORw==") },
    ],
    [
      "an image with another name of its type",
      media("IMAGE/JPG; q=1", { bytes: Uint8Array.from([1]) }),
      { type: "image", source: base64("image/jpeg", "AQ==") },
    ],
    [
      "an image of another type than it says",
      media("image/jpeg", { bytes: png }),
      { type: "image", source: base64("image/png", "iVBORw==") },
    ],
    [
      "an image by its address",
      media("image/webp", { url: "https://a.b/c" }),
      { type: "image", source: { type: "url", url: "https://a.b/c" } },
    ],
    [
      "an image in its address",
      media("image/png", { url: "data:image/gif;base64,AQID" }),
      { type: "image", source: base64("image/gif", "AQID") },
    ],
    [
      "a document",
      file("application/pdf", { bytes: pdf }),
      { type: "document", source: base64("application/pdf", "JVBERg=="), title: "notes" },
    ],
    [
      "a document by its address",
      file("application/pdf", { url: "https://a.b/c.pdf" }),
      { type: "document", source: { type: "url", url: "https://a.b/c.pdf" }, title: "notes" },
    ],
    [
      "a text",
      file("text/markdown", { bytes: new TextEncoder().encode("# Hi") }),
      {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "# Hi" },
        title: "notes",
      },
    ],
  ])("%s", (_, part, block) => {
    expect(messagesOf([user(part)])).toEqual([{ role: "user", content: [block] }]);
  });

  test.each([
    ["an address that is not safe", media("image/png", { url: "http://a.b/c" }), "http://a.b/c"],
    ["an image without bytes", media("image/png", { bytes: new Uint8Array() }), "0 bytes"],
    ["a sound", media("audio/wav", { bytes: png }), "audio/wav"],
    ["a text that is none", file("text/plain", { bytes: Uint8Array.from([0xff]) }), "charset"],
    ["an archive", file("application/zip", { bytes: Uint8Array.of(80, 75, 3, 4) }), "notes"],
  ])("%s is refused", (_, part, words) => {
    expect(() => messagesOf([user(part)])).toThrow(words);
  });

  test("the model sends no images, so the user shows them", () => {
    expect(
      messagesOf([user("Draw."), says(media("image/png", { bytes: png })), user("Nice.")]),
    ).toEqual([
      { role: "user", content: [textBlock("Draw.")] },
      {
        role: "assistant",
        content: [textBlock("[media, image/png: in the next user message]")],
      },
      {
        role: "user",
        content: [
          textBlock("Made by the assistant:"),
          { type: "image", source: base64("image/png", "iVBORw==") },
          textBlock("Nice."),
        ],
      },
    ]);
  });
});

describe("calls and answers", () => {
  test("results come first, then the user's text", () => {
    const transcript = [
      user("Look."),
      says("Sure.", call("a", { at: 1 }), call("b")),
      answers(result("a", "one"), media("image/png", { url: "https://a.b/c" }), result("b", "")),
      user("And?"),
    ];

    expect(messagesOf(transcript, { tools: [look] })).toEqual([
      { role: "user", content: [textBlock("Look.")] },
      {
        role: "assistant",
        content: [
          textBlock("Sure."),
          { type: "tool_use", id: "a", name: "look", input: { at: 1 } },
          { type: "tool_use", id: "b", name: "look", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "a",
            content: [
              textBlock("one"),
              { type: "image", source: { type: "url", url: "https://a.b/c" } },
            ],
          },
          { type: "tool_result", tool_use_id: "b", content: "(no output)" },
          textBlock("And?"),
        ],
      },
    ]);
  });

  test("an error holds text only, and what came with it stands behind the results", () => {
    const transcript = [
      user("Look."),
      says(call("a"), call("b")),
      answers(
        result("a", "\n", { status: "failed" }),
        media("image/png", { url: "https://a.b/c" }),
        result("b", "", { status: "denied" }),
      ),
    ];

    expect(messagesOf(transcript)).toMatchObject([
      {},
      {},
      {
        content: [
          { type: "tool_result", tool_use_id: "a", content: "(failed)", is_error: true },
          { type: "tool_result", tool_use_id: "b", content: "(denied)", is_error: true },
          { type: "image" },
        ],
      },
    ]);
  });

  test("a call that can't run is sent without input", () => {
    const { input: _, ...bad } = call("a") as Extract<
      Part,
      { kind: "tool_call"; input: JsonObject }
    >;
    const transcript = [user("Look."), says({ ...bad, raw: "{", fault: { code: "truncated" } })];

    expect(messagesOf(transcript)).toMatchObject([
      {},
      { content: [{ type: "tool_use", id: "a", input: {} }] },
      { content: [{ type: "tool_result", tool_use_id: "a", is_error: true }] },
    ]);
  });

  test("tools that are gone are declared, and not to be called", () => {
    const transcript = [user("Look."), says(call("a")), answers(result("a", "one"))];

    const body = bodyOf(transcript, { settings: { tool_choice: { type: "any" } } });

    expect(body["tools"]).toEqual([{ name: "look", input_schema: { type: "object" } }]);
    expect(body["tool_choice"]).toEqual({ type: "none" });
  });
});

test("citations go back with the fields that a request may have", () => {
  const citation = {
    type: "char_location",
    cited_text: "Hi",
    document_index: 0,
    document_title: null,
    start_char_index: 0,
    end_char_index: 2,
  };
  const metadata = {
    citations: [
      { ...citation, file_id: null },
      { type: "new_location", a: 1 },
    ],
  };

  expect(
    messagesOf([user("Hi"), says(text("Hi.", metadata), text(" ", metadata)), user("A")]),
  ).toEqual([
    { role: "user", content: [textBlock("Hi")] },
    { role: "assistant", content: [{ ...textBlock("Hi."), citations: [citation] }] },
    { role: "user", content: [textBlock("A")] },
  ]);
});

test("a turn that was cut is followed by the user", () => {
  const cut = item("model", [text("Once upon ")], {
    model: native,
    stop: "aborted",
    cause: { code: "aborted", message: "" },
  });

  expect(messagesOf([user("Tell."), cut])).toEqual([
    { role: "user", content: [textBlock("Tell.")] },
    { role: "assistant", content: [textBlock("Once upon ")] },
    { role: "user", content: [textBlock("(continue)")] },
  ]);
});

test("two turns of the model in a row are one message", () => {
  expect(messagesOf([user("Hi"), says("One."), says("Two."), user("A")])).toMatchObject([
    {},
    { role: "assistant", content: [textBlock("One."), textBlock("Two.")] },
    {},
  ]);
});
