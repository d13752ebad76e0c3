import { partId } from "@millrace/core/writing";
import type { Json, JsonObject, Part } from "@millrace/core";
import { describe, expect, test } from "vitest";
import {
  answer,
  answersTo,
  bodyOf,
  call,
  foreign,
  item,
  messagesOf,
  model,
  native,
  reasoning,
  replyOf,
  result,
  says,
  sent,
  text,
  user,
} from "../../testing/openai-chat-items.ts";
import { openaiChatProtocol } from "./protocol.ts";

describe("the body", () => {
  test("asks for a stream with usage, from the vendor's path", () => {
    const request = openaiChatProtocol.request(
      { transcript: [says("Hi")], instructions: "Be brief." },
      { model },
    );

    expect(request).toEqual({
      path: "/chat/completions",
      body: {
        model,
        messages: [{ role: "system", content: "Be brief." }, user("Hi")],
        stream: true,
        stream_options: { include_usage: true },
      },
    });
  });

  test("takes settings as they are", () => {
    const settings = {
      temperature: 0.2,
      stream_options: { include_obfuscation: false },
    };

    expect(bodyOf([says("Hi")], { settings })).toEqual({
      temperature: 0.2,
      model,
      messages: [user("Hi")],
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
    });
    expect(bodyOf([says("Hi")], { settings: { stream_options: null } })).not.toHaveProperty(
      "stream_options",
    );
  });

  test("has no word about tools where there are none", () => {
    const settings = { tool_choice: "auto", parallel_tool_calls: false };

    expect(Object.keys(bodyOf([says("Hi")], { settings, tools: [] })).toSorted()).toEqual([
      "messages",
      "model",
      "stream",
      "stream_options",
    ]);
  });

  test("describes tools as functions of an object, each name once, and adds the settings' own", () => {
    const input = { type: "object", properties: { at: { type: "string" } }, required: ["at"] };
    const tools = [
      { name: "look", description: "Looks.", input },
      { name: "look", input: true },
      { name: "wait", input: { type: "object" } },
      {
        name: "either",
        input: {
          anyOf: [
            { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
            { type: "object", properties: { a: { type: "number" }, b: { type: "string" } } },
          ],
        },
      },
    ];
    const custom = { type: "custom", custom: { name: "run_code" } };
    const settings = { tools: [custom], tool_choice: "auto" };
    const described = (name: string, parameters: Json, more: object = {}): Json => ({
      type: "function",
      function: { name, parameters, ...more },
    });

    const body = bodyOf([says("Hi")], { tools, settings });

    const open = { type: "object", properties: {} };
    const both = {
      a: { anyOf: [{ type: "string" }, { type: "number" }] },
      b: { type: "string" },
    };
    expect(body["tools"]).toEqual([
      described("look", input, { description: "Looks." }),
      described("wait", open),
      described(
        "either",
        { type: "object", properties: both },
        {
          description: `The arguments match this JSON Schema:\n${JSON.stringify(tools[3]?.input)}`,
        },
      ),
      custom,
    ]);
    expect(body["tool_choice"]).toBe("auto");
  });
});

describe("the user's side", () => {
  test("an empty transcript becomes a request that the vendor takes", () => {
    expect(messagesOf([])).toEqual([user("(continue)")]);
  });

  test("neighbours of one role become one message", () => {
    const transcript = [
      says("One"),
      says("Two"),
      item("agent", [text("A")]),
      item("model", [text("B")]),
    ];

    expect(messagesOf(transcript)).toEqual([
      user("One\n\nTwo"),
      { role: "assistant", content: "A\n\nB" },
      user("(continue)"),
    ]);
  });

  test("pictures, sounds and documents go by their bytes or their address", () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const media = (mediaType: string, source: object): Part =>
      ({ kind: "media", id: partId(mediaType), mediaType, ...source }) as Part;
    const file = (name: string, mediaType: string, source: object): Part =>
      ({ kind: "file", id: partId(name), name, mediaType, ...source }) as Part;
    const url = "https://images.example/a.png";
    const parts = [
      text("See:"),
      media("image/jpg", { bytes }),
      media("image/png", { url }),
      media("audio/mpeg", { bytes }),
      file("a.pdf", "application/pdf", { bytes }),
    ];
    const words = (content: string): Json => ({ type: "text", text: content });

    expect(messagesOf([item("user", parts)])).toEqual([
      user([
        words("See:"),
        { type: "image_url", image_url: { url: "data:image/jpeg;base64,AQID" } },
        { type: "image_url", image_url: { url } },
        { type: "input_audio", input_audio: { data: "AQID", format: "mp3" } },
        {
          type: "file",
          file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AQID" },
        },
      ]),
    ]);
  });
});

describe("calls and results", () => {
  test("each call is answered behind its message", () => {
    const transcript = [
      says("Look."),
      item("model", [text("Yes."), call("c1"), call("c2")], { ...native, stop: "tools" }),
      item("tool", [answer("c1")]),
      item("tool", [answer("c2", { status: "denied", text: "not allowed" })]),
    ];

    expect(messagesOf(transcript)).toEqual([
      user("Look."),
      { role: "assistant", content: "Yes.", tool_calls: [sent("c1"), sent("c2")] },
      result("c1"),
      result("c2", "not allowed"),
    ]);
  });

  test("pictures that tools made follow all results, as the user's", () => {
    const picture: Part = {
      kind: "media",
      id: partId("m"),
      mediaType: "image/png",
      bytes: new Uint8Array([1, 2, 3]),
    };
    const transcript = [
      says("Look."),
      item("model", [call("c1"), call("c2")], { ...native, stop: "tools" }),
      item("tool", [answer("c1"), picture, answer("c2"), text("and green", "t2")]),
    ];

    expect(messagesOf(transcript)).toEqual([
      user("Look."),
      { role: "assistant", content: null, tool_calls: [sent("c1"), sent("c2")] },
      result("c1"),
      result("c2", "blue\n\nand green"),
      user([
        { type: "text", text: "Made by look (c1):" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
      ]),
    ]);
  });

  test("a call with a fault, or without arguments, is sent with an empty object", () => {
    const broken = { raw: '{"at', input: undefined, fault: { code: "truncated" } };
    const transcript = [
      says("Look."),
      item("model", [call("c1", broken), call("c2", { raw: "", input: {} })], { ...native }),
    ];

    const [, assistant, first] = messagesOf(transcript) as JsonObject[];

    const empty = { function: { name: "look", arguments: "{}" } };
    expect(assistant?.["tool_calls"]).toEqual([sent("c1", empty), sent("c2", empty)]);
    expect(first).toEqual(result("c1", "not run: its arguments are not usable (truncated)"));
  });

  test("an aborted turn is answered, and the model's turn comes", () => {
    const cause = { code: "aborted", message: "stopped" };
    const transcript = [
      says("Look."),
      item("model", [reasoning("Hm"), text("Let me")], { ...native, stop: "aborted", cause }),
      item("model", [reasoning("Hm")], { ...native, stop: "aborted", cause }),
    ];

    expect(messagesOf(transcript)).toEqual([
      user("Look."),
      { role: "assistant", content: "Let me" },
      user("(continue)"),
    ]);
  });

  test("a paused turn is followed by the user, since this vendor never pauses", () => {
    const transcript = [says("Hi"), item("model", [text("So")], { ...native, stop: "paused" })];

    expect(messagesOf(transcript)).toEqual([
      user("Hi"),
      { role: "assistant", content: "So" },
      user("(continue)"),
    ]);
  });

  test("text that calls cut in two goes back as the one text that it was", () => {
    const reply = replyOf("text-between-calls");

    const messages = messagesOf([says("Hi"), reply, answersTo(reply)]) as JsonObject[];

    expect(messages[1]?.["content"]).toBe("First.Then.");
  });

  test("a custom tool's call goes back as it came", () => {
    const reply = replyOf("custom-tool");

    const messages = messagesOf([says("Hi"), reply, answersTo(reply)]) as JsonObject[];

    const input = 'print("a\\n")\n# 😀';
    expect(messages[1]?.["tool_calls"]).toEqual([
      { id: "call_cu", type: "custom", custom: { name: "run_code", input } },
    ]);
    const other = messagesOf([says("Hi"), { ...reply, ...foreign }, answersTo(reply)]);
    expect((other as JsonObject[])[1]?.["tool_calls"]).toMatchObject([{ type: "function" }]);
  });

  test("the vendor's own ids go back where they are free, and results follow them", () => {
    const reply = replyOf("ids-with-meaning");
    const again = item(
      "model",
      [call("c9", { opaque: { id: "functions.get_weather:1" } })],
      native,
    );

    const messages = messagesOf([says("Hi"), reply, answersTo(reply), again, answersTo(again)]);

    const ids = (messages as JsonObject[]).flatMap((message) => [
      ...((message["tool_calls"] ?? []) as JsonObject[]).map(({ id }) => id),
      ...("tool_call_id" in message ? [message["tool_call_id"]] : []),
    ]);
    const [first, second] = ["functions.get_weather:0", "functions.get_weather:1"];
    expect(ids).toEqual([first, second, first, second, "c9", "c9"]);
  });
});
