import { parseJsonText } from "@millrace/core/json";
import { callId, commitDraft, itemId, partId } from "@millrace/core/writing";
import type { Item, Json, JsonObject, Part, Transcript } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { sseFraming } from "../../framing/sse.ts";
import { decode } from "../../testing/decode.ts";
import { bytesOf } from "../../testing/fixtures.ts";
import { openaiResponsesProtocol } from "./protocol.ts";

const model = "gpt-5.2";
const native = `openai-responses/${model}`;

/** Ids in the fixtures, without the characters in which one fixture differs from another. */
const id = (kind: string, number: number): string => `${kind}_…${number}`;

function withShortIds(value: Json): Json {
  const text = JSON.stringify(value);
  return parseJsonText(text.replaceAll(/_68c1a2b4f\w{3}819f\w*(\d)"/g, '_…$1"')) as Json;
}

let count = 0;

function user(...parts: readonly Part[]): Item {
  count += 1;
  return { id: itemId(`u${count}`), author: "user", parts, stop: "end" };
}

function says(text: string): Part {
  return { kind: "text", id: partId("p1"), text };
}

/** The item of a fixture's bytes, by the given model. */
function replyOf(fixture: string, author: string = native): Item {
  count += 1;
  const bytes = bytesOf(openaiResponsesProtocol.id, fixture);
  const { draft, end } = decode(openaiResponsesProtocol, sseFraming(), [bytes]);
  const { usage: _, ...ending } = end;
  return commitDraft(draft, { id: itemId(`m${count}`), author: "model", model: author }, ending);
}

function tool(call: string, text: string, ...more: readonly Part[]): Item {
  count += 1;
  const result: Part = {
    kind: "tool_result",
    id: partId("p1"),
    callId: callId(call),
    tool: "read_file",
    status: "ok",
    text,
  };
  return { id: itemId(`t${count}`), author: "tool", parts: [result, ...more], stop: "end" };
}

function bodyOf(transcript: Transcript, rest: Partial<ModelRequest> = {}): JsonObject {
  return openaiResponsesProtocol.request({ transcript, ...rest }, { model }).body;
}

function inputOf(transcript: Transcript, rest: Partial<ModelRequest> = {}): readonly JsonObject[] {
  return withShortIds(bodyOf(transcript, rest)["input"] ?? []) as readonly JsonObject[];
}

const typesOf = (input: readonly JsonObject[]): readonly string[] =>
  input.map(({ type, role }) => textOf(role) ?? textOf(type) ?? "");

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

describe("a request", () => {
  test("asks for a stream that leaves nothing with the vendor", () => {
    const { path, body } = openaiResponsesProtocol.request(
      { transcript: [user(says("Hi"))], instructions: "Be short." },
      { model },
    );

    expect(path).toBe("/responses");
    expect(body).toEqual({
      model,
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      instructions: "Be short.",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
    });
  });

  test("of an empty transcript still has something to answer", () => {
    expect(inputOf([])).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "(continue)" }] },
    ]);
  });

  test("takes settings as they are", () => {
    const settings = {
      store: true,
      include: ["web_search_call.action.sources"],
      reasoning: { effort: "high" },
      tools: [{ type: "web_search" }, { type: "function", name: "go" }],
    };

    const body = bodyOf([user(says("Hi"))], { settings, tools: [{ name: "go", input: {} }] });

    expect(body).toMatchObject({
      model,
      stream: true,
      store: true,
      include: ["reasoning.encrypted_content", "web_search_call.action.sources"],
      reasoning: { effort: "high" },
    });
    expect(body["input"]).toHaveLength(1);
    expect(body["tools"]).toEqual([
      {
        type: "function",
        name: "go",
        parameters: { type: "object", properties: {} },
        strict: false,
      },
      { type: "web_search" },
    ]);
  });

  test.each(["model", "stream", "input", "previous_response_id", "conversation"])(
    "refuses the setting %s, which it decides itself",
    (field) => {
      const settings = { [field]: "other" };

      expect(() => bodyOf([user(says("Hi"))], { settings })).toThrow(
        `OpenAI's Responses API does not get ${field} by a setting`,
      );
    },
  );

  test.each([
    [["reasoning.encrypted_content"], ["reasoning.encrypted_content"]],
    [[], ["reasoning.encrypted_content"]],
    [null, null],
  ])("with %j included asks for %j", (include, asked) => {
    const body = bodyOf([user(says("Hi"))], { settings: { include } });

    expect(body["include"]).toEqual(asked);
  });

  test.each([
    ["gpt-4o", false],
    ["openai/gpt-4.1-mini", false],
    ["gpt-5-chat-latest", false],
    ["gpt-5.2", true],
    ["o4-mini", true],
    ["my-deployment", true],
  ])("of %s asks for encrypted reasoning: %s", (name, asks) => {
    const { body } = openaiResponsesProtocol.request({ transcript: [] }, { model: name });

    expect("include" in body).toBe(asks);
  });

  test("declares a name once, by the first tool of that name", () => {
    const tools = [
      { name: "go", description: "first", input: {} },
      { name: "go", description: "second", input: {} },
    ];

    const [declared, ...others] = bodyOf([], { tools })["tools"] as readonly JsonObject[];

    expect(declared?.["description"]).toBe("first");
    expect(others).toEqual([]);
  });

  test("gives tools with schemas that the vendor takes", () => {
    const tools = [
      { name: "a", description: "A", input: { type: "object", properties: { x: {} } } },
      { name: "b", input: { type: "object", anyOf: [{}], additionalProperties: false } },
      { name: "d", input: true },
    ];

    expect(bodyOf([], { tools })["tools"]).toEqual([
      {
        type: "function",
        name: "a",
        description: "A",
        parameters: { type: "object", properties: { x: {} } },
        strict: false,
      },
      {
        type: "function",
        name: "b",
        description: `The arguments match this JSON Schema:\n${JSON.stringify(tools[1]?.input)}`,
        parameters: { type: "object", additionalProperties: false, properties: {} },
        strict: false,
      },
      {
        type: "function",
        name: "d",
        parameters: { type: "object", properties: {} },
        strict: false,
      },
    ]);
  });
});

describe("what a user sends", () => {
  test("is text, pictures and PDF files", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const parts: readonly Part[] = [
      says("Look"),
      { kind: "media", id: partId("p2"), mediaType: "image/png", bytes },
      {
        kind: "media",
        id: partId("p3"),
        mediaType: "image/jpeg",
        url: "https://example.com/a.jpg",
      },
      { kind: "file", id: partId("p4"), name: "a.pdf", mediaType: "application/pdf", bytes },
    ];

    expect(inputOf([user(...parts)])[0]?.["content"]).toEqual([
      { type: "input_text", text: "Look" },
      { type: "input_image", detail: "auto", image_url: "data:image/png;base64,AQID" },
      { type: "input_image", detail: "auto", image_url: "https://example.com/a.jpg" },
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AQID" },
    ]);
  });
});

describe("a model's own turn", () => {
  test("goes back with its reasoning, its ids and its calls", () => {
    const input = inputOf([
      user(says("Read it")),
      replyOf("tool-call"),
      tool("call_7Hc0aWv3TqLm9Pz2Xy4Rk1Bd", "text of a.ts"),
    ]);

    expect(input.slice(1)).toEqual([
      {
        type: "reasoning",
        id: id("rs", 0),
        summary: [],
        encrypted_content: `gAAAAABowaK1${"Zk9xU3RyZWFtVG9rZW4".repeat(6)}==`,
      },
      {
        type: "function_call",
        id: id("fc", 1),
        call_id: "call_7Hc0aWv3TqLm9Pz2Xy4Rk1Bd",
        name: "read_file",
        arguments: '{"path":"a.ts"}',
      },
      {
        type: "function_call_output",
        call_id: "call_7Hc0aWv3TqLm9Pz2Xy4Rk1Bd",
        output: "text of a.ts",
      },
    ]);
  });

  test("goes back as one message with all its contents", () => {
    const input = inputOf([user(says("Hi")), replyOf("two-contents"), user(says("And?"))]);

    expect(input[1]).toEqual({
      type: "message",
      id: id("msg", 0),
      role: "assistant",
      status: "completed",
      content: [
        { type: "output_text", text: "One", annotations: [] },
        { type: "output_text", text: "Two", annotations: [] },
      ],
    });
  });

  test("keeps the phases of its messages", () => {
    const input = inputOf([user(says("Hi")), replyOf("phase-final"), user(says("And?"))]);

    expect(input[1]).toMatchObject({ phase: "commentary", id: id("msg", 0) });
    expect(input[2]).toMatchObject({ phase: "final_answer", id: id("msg", 1) });
  });

  test("keeps a refusal and a citation in their own shapes", () => {
    const refusal = inputOf([user(says("Hi")), replyOf("refusal"), user(says("And?"))]);
    const search = inputOf([user(says("Hi")), replyOf("web-search"), user(says("And?"))]);

    expect(refusal[1]?.["content"]).toEqual([
      { type: "refusal", refusal: "I can't help with that." },
    ]);
    expect(search[1]).toMatchObject({ type: "web_search_call", status: "completed" });
    expect(search[2]?.["content"]).toEqual([
      {
        type: "output_text",
        text: "It is true.",
        annotations: [
          {
            type: "url_citation",
            start_index: 0,
            end_index: 11,
            title: "Example",
            url: "https://example.com/a",
          },
        ],
      },
    ]);
  });

  test("puts a picture back into its item", () => {
    const input = inputOf([user(says("Draw")), replyOf("image"), user(says("Again"))]);

    expect(typesOf(input)).toEqual(["user", "image_generation_call", "user"]);
    expect(input[1]?.["result"]).toMatch(/^iVBORw0KGgoAAAAN/);
    expect(Object.keys(input[1] ?? {}).toSorted()).toEqual(["id", "result", "status", "type"]);
  });

  test("sends a compaction and a shell with its output as they came, but for their author", () => {
    const input = inputOf([
      user(says("Go")),
      replyOf("compaction"),
      replyOf("shell"),
      user(says("And?")),
    ]);

    expect(typesOf(input).slice(1, 5)).toEqual([
      "compaction",
      "assistant",
      "shell_call",
      "shell_call_output",
    ]);
    expect(JSON.stringify(input)).not.toContain("created_by");
  });

  test("leaves out what the vendor waits for and has no answer", () => {
    const input = inputOf([
      user(says("Go")),
      replyOf("computer"),
      replyOf("unknown-events"),
      user(says("And?")),
    ]);

    expect(typesOf(input)).toEqual(["user", "assistant", "user"]);
  });

  test("sends free text to a custom tool back as free text", () => {
    const input = inputOf([
      user(says("Go")),
      replyOf("custom-tool"),
      tool("call_Custom0001", "hi"),
    ]);

    expect(input.slice(1)).toEqual([
      {
        type: "custom_tool_call",
        id: id("ctc", 0),
        call_id: "call_Custom0001",
        name: "python",
        input: 'print("\u{1F600} hi")\n',
      },
      { type: "custom_tool_call_output", call_id: "call_Custom0001", output: "hi" },
    ]);
  });

  test("sends readable reasoning of an open model back as text", () => {
    const input = inputOf([user(says("Hi")), replyOf("reasoning-text"), user(says("And?"))]);

    expect(input[1]).toEqual({
      type: "reasoning",
      id: id("rs", 0),
      summary: [],
      content: [{ type: "reasoning_text", text: "User asks; answer 4." }],
    });
  });

  test("without encrypted reasoning loses it, and with it the ids of what followed", () => {
    const reply = replyOf("reasoning-backfilled");
    const paired = reply.parts.find((part) => part.kind === "tool_call");
    const reasoningId = (paired?.opaque as JsonObject | undefined)?.["after"] ?? null;
    const parts = reply.parts.map((part): Part => {
      return part.kind === "reasoning"
        ? { ...part, opaque: { type: "reasoning", id: reasoningId } }
        : part;
    });
    const transcript = [user(says("Hi")), { ...reply, parts }, tool("call_Azure00001", "now")];

    const [, call] = inputOf(transcript);
    const [, stored] = inputOf(transcript, { settings: { store: true } });

    expect(call).toEqual({
      type: "function_call",
      call_id: "call_Azure00001",
      name: "now",
      arguments: "{}",
    });
    expect(stored).toEqual({ type: "reasoning", id: id("rs", 0), summary: [] });
  });

  test("with ids that are too long goes back without them and without its reasoning", () => {
    const input = inputOf([user(says("Hi")), replyOf("changing-ids"), user(says("And?"))]);

    expect(input[1]).toEqual({ type: "message", role: "assistant", content: "Hi" });
    expect(input).toHaveLength(3);
  });

  test("that stands in the transcript twice has its ids once", () => {
    const reply = replyOf("reasoning-summaries");

    const input = inputOf([
      user(says("Hi")),
      reply,
      user(says("Hi")),
      { ...reply, id: itemId("again") },
      user(says("Hi")),
    ]);

    expect(typesOf(input)).toEqual(["user", "reasoning", "assistant", "user", "assistant", "user"]);
    expect(input[2]).toHaveProperty("id");
    expect(input[4]).not.toHaveProperty("id");
  });
});

describe("a turn that was cut", () => {
  test("loses reasoning that nothing follows", () => {
    const reply = replyOf("reasoning-summaries");
    const aborted: Item = {
      ...reply,
      parts: reply.parts.slice(0, 1),
      stop: "aborted",
      cause: { code: "aborted", message: "by the user" },
    } as Item;

    expect(typesOf(inputOf([user(says("Hi")), aborted, user(says("Go on"))]))).toEqual([
      "user",
      "user",
    ]);
  });

  test("keeps the text that came, without the id of an item that may not exist", () => {
    const input = inputOf([user(says("Hi")), replyOf("conversation-cut"), user(says("Go on"))]);

    expect(input[1]).toEqual({ type: "message", role: "assistant", content: "Half a th" });
  });

  test("sends a faulty call with no arguments, and an answer to it", () => {
    const input = inputOf([user(says("Hi")), replyOf("length-in-call")]);

    expect(typesOf(input)).toEqual(["user", "assistant", "function_call", "function_call_output"]);
    expect(input[2]?.["arguments"]).toBe("{}");
  });

  test("leaves out a search that had not ended", () => {
    const reply = replyOf("web-search");
    const parts = reply.parts.map((part): Part => {
      return part.kind === "custom"
        ? { ...part, value: { type: part.name, id: "ws_1", status: "searching" } }
        : part;
    });

    const input = inputOf([user(says("Hi")), { ...reply, parts }, user(says("Go on"))]);

    expect(typesOf(input)).toEqual(["user", "assistant", "user"]);
  });
});

describe("a turn of another model", () => {
  test("goes back as plain text and calls, without ids, reasoning and searches", () => {
    const input = inputOf([
      user(says("Hi")),
      replyOf("reasoning-summaries", "anthropic-messages/claude"),
      replyOf("web-search", "openai-responses/gpt-5.1"),
      replyOf("tool-call", "openai-responses/gpt-5.1"),
      tool("call_7Hc0aWv3TqLm9Pz2Xy4Rk1Bd", "text"),
    ]);

    expect(input.slice(1)).toEqual([
      { type: "message", role: "assistant", content: "42" },
      { type: "message", role: "assistant", content: "It is true." },
      {
        type: "function_call",
        call_id: "call_7Hc0aWv3TqLm9Pz2Xy4Rk1Bd",
        name: "read_file",
        arguments: '{"path":"a.ts"}',
      },
      {
        type: "function_call_output",
        call_id: "call_7Hc0aWv3TqLm9Pz2Xy4Rk1Bd",
        output: "text",
      },
    ]);
  });

  test("has a picture that it made shown by the user", () => {
    const input = inputOf([
      user(says("Draw")),
      replyOf("image", "gemini/banana"),
      user(says("Again")),
    ]);

    expect(input[1]).toMatchObject({
      role: "assistant",
      content: "[media, image/png: in the next user message]",
    });
    expect(input[2]).toMatchObject({
      role: "user",
      content: [
        { type: "input_text", text: "Made by the assistant:" },
        {
          type: "input_image",
          image_url: expect.stringMatching(/^data:image\/png;base64,/) as string,
        },
      ],
    });
  });
});

describe("results", () => {
  test("with pictures are lists, and others are text", () => {
    const picture: Part = {
      kind: "media",
      id: partId("p2"),
      mediaType: "image/png",
      bytes: Uint8Array.of(1, 2, 3),
    };
    const call = "call_7Hc0aWv3TqLm9Pz2Xy4Rk1Bd";

    const input = inputOf([user(says("Hi")), replyOf("tool-call"), tool(call, "", picture)]);

    expect(input.at(-1)).toEqual({
      type: "function_call_output",
      call_id: call,
      output: [
        { type: "input_text", text: "(no output)" },
        { type: "input_image", detail: "auto", image_url: "data:image/png;base64,AQID" },
      ],
    });
  });

  test("of calls without an answer are there all the same", () => {
    const input = inputOf([user(says("Hi")), replyOf("parallel-calls")]);

    expect(typesOf(input)).toEqual([
      "user",
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
    ]);
  });
});

describe("a paused turn", () => {
  test("goes on when the user asks for it", () => {
    const input = inputOf([user(says("Hi")), replyOf("incomplete-steered")]);

    expect(input).toHaveLength(3);
    expect(input[1]).toMatchObject({ role: "assistant", status: "incomplete" });
    expect(input[2]).toMatchObject({ role: "user" });
  });
});
