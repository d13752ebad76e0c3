import { callId, itemId, partId } from "@millrace/core/writing";
import type { Item, JsonObject, Part, Transcript } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { validateBedrockConverse } from "../../testing/validators/bedrock-converse.ts";
import { RequestRefusal } from "../refusal.ts";
import { bedrockConverseProtocol } from "./protocol.ts";

const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
const id = partId("p1");

function bodyOf(request: ModelRequest, model: string = claude): JsonObject {
  const { body } = bedrockConverseProtocol.request(request, { model });
  expect(validateBedrockConverse(body, { model })).toEqual([]);
  return body;
}

const user = (...parts: readonly Part[]): Item => ({
  id: itemId("u"),
  author: "user",
  parts,
  stop: "end",
});
const text = (words: string): Part => ({ kind: "text", id, text: words });
const file = (name: string, mediaType: string, content: string | Uint8Array): Part => ({
  kind: "file",
  id,
  name,
  mediaType,
  bytes: typeof content === "string" ? new TextEncoder().encode(content) : content,
});
const reply = (model: string, ...parts: readonly Part[]): Item => ({
  id: itemId("m"),
  author: "model",
  model: `bedrock-converse/${model}`,
  parts,
  stop: "end",
});

/** The content of the first message for parts of a user. */
function contentOf(...parts: readonly Part[]): unknown {
  const { messages } = bodyOf({ transcript: [user(...parts)] }) as unknown as {
    readonly messages: readonly { readonly content: unknown }[];
  };
  return messages[0]?.content;
}

test("a model's name is one segment of the path, with all of its characters encoded", () => {
  const arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.x-v1:0";

  const { path } = bedrockConverseProtocol.request({ transcript: [] }, { model: arn });

  expect(path).toBe(
    "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.x-v1%3A0/converse-stream",
  );
});

test("settings stand in the body under the vendor's names, beside instructions and tools", () => {
  const settings = {
    inferenceConfig: { maxTokens: 100, temperature: 0, topP: 0.5, stopSequences: ["x"] },
    guardrailConfig: { guardrailIdentifier: "g", guardrailVersion: "1", trace: "enabled" },
    additionalModelRequestFields: { top_k: 5 },
    additionalModelResponseFieldPaths: ["/stop_sequence"],
    requestMetadata: { team: "a" },
    performanceConfig: { latency: "optimized" },
    serviceTier: { type: "flex" },
    promptVariables: { a: { text: "b" } },
    system: [{ cachePoint: { type: "default" } }],
    toolConfig: { tools: [{ cachePoint: { type: "default" } }], toolChoice: { any: {} } },
  };
  const tools = [{ name: "f", description: "does f", input: { type: "object" } }];

  const body = bodyOf({ transcript: [], instructions: "Be short.", tools, settings });

  const { system: _, toolConfig: __, ...rest } = settings;
  expect(body).toEqual({
    ...rest,
    system: [{ text: "Be short." }, { cachePoint: { type: "default" } }],
    toolConfig: {
      tools: [
        {
          toolSpec: { name: "f", description: "does f", inputSchema: { json: { type: "object" } } },
        },
        { cachePoint: { type: "default" } },
      ],
      toolChoice: { any: {} },
    },
    messages: [{ role: "user", content: [{ text: "(continue)" }] }],
  });
});

describe("files and media", () => {
  test("each goes in the vendor's block for it, with its name before it", () => {
    expect(
      contentOf(text("Look"), { kind: "media", id, mediaType: "image/png", bytes: png }),
    ).toEqual([{ text: "Look" }, { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } }]);
    expect(contentOf({ kind: "media", id, mediaType: "video/3gpp", bytes: png })).toEqual([
      { video: { format: "three_gp", source: { bytes: "iVBORw0KGgo=" } } },
    ]);
    expect(contentOf(file("a.pdf", "application/pdf", "%PDF-1"))).toEqual([
      { text: "a.pdf:" },
      { document: { format: "pdf", name: "a-pdf", source: { bytes: "JVBERi0x" } } },
    ]);
  });

  test("an address in S3 goes as one, and another is refused with what to do", () => {
    const at = (url: string): Part => ({ kind: "media", id, mediaType: "video/mp4", url });

    expect(contentOf(at("s3://bucket/a.mp4"))).toEqual([
      { video: { format: "mp4", source: { s3Location: { uri: "s3://bucket/a.mp4" } } } },
    ]);
    expect(() => contentOf(at("https://example.com/a.mp4"))).toThrow(RequestRefusal);
    expect(() => contentOf(at("https://example.com/a.mp4"))).toThrow("pass its bytes");
  });

  test("names of documents have only what the vendor takes, and are told apart", () => {
    const content = contentOf(
      file("Ünï  cödé/№1.txt", "text/plain", "a"),
      file("b.csv", "text/csv", "x,y"),
      file("b.csv", "text/csv", "x,z"),
      file("…", "text/plain", "c"),
    );

    const names = (content as readonly { document?: { name: string } }[]).flatMap(
      ({ document }) => document?.name ?? [],
    );
    expect(names).toEqual(["-n- c-d-1-txt", "b-csv", "b-csv (2)", "document"]);
  });

  test("other texts go as plain text, and what is no text is refused by its type", () => {
    expect(contentOf(file("a.json", "application/json", "{}"))).toEqual([
      { text: "a.json:" },
      { document: { format: "txt", name: "a-json", source: { bytes: "e30=" } } },
    ]);
    const zip = file("a.zip", "application/zip", new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]));
    expect(() => contentOf(zip)).toThrow('does not take the file "a.zip"');
  });

  test("a text in another charset is sent in UTF-8, which the vendor reads", () => {
    const latin = file("a.csv", "text/csv; charset=iso-8859-1", new Uint8Array([0xe9]));

    expect(contentOf(latin)).toEqual([
      { text: "a.csv:" },
      { document: { format: "csv", name: "a-csv", source: { bytes: "w6k=" } } },
    ]);
  });
});

describe("calls and their results", () => {
  const call: Part = {
    kind: "tool_call",
    id,
    callId: callId("call_1"),
    tool: "f",
    raw: '{"a":1}',
    input: { a: 1 },
  };
  const result = (more: object): Item => ({
    id: itemId("t"),
    author: "tool",
    stop: "end",
    parts: [
      {
        kind: "tool_result",
        id,
        callId: callId("call_1"),
        tool: "f",
        status: "ok",
        text: "",
        ...more,
      },
      { kind: "media", id: partId("p2"), mediaType: "image/png", bytes: png },
    ],
  });
  const resultOf = (transcript: Transcript, model?: string): unknown => {
    const { messages } = bodyOf({ transcript }, model) as unknown as {
      readonly messages: readonly { readonly content: readonly unknown[] }[];
    };
    return messages.at(-1)?.content;
  };
  const image = { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } };

  test("an object stays one, with what the tool made in the result", () => {
    const transcript = [user(text("Hi")), reply(claude, call), result({ output: { b: 2 } })];

    expect(resultOf(transcript)).toEqual([
      {
        toolResult: {
          toolUseId: "call_1",
          content: [{ json: { b: 2 } }, image],
          status: "success",
        },
      },
    ]);
  });

  test("an error has text only, and what the tool made stands beside it", () => {
    const failed = result({ status: "failed", text: "no" });

    expect(resultOf([user(text("Hi")), reply(claude, call), failed])).toEqual([
      { toolResult: { toolUseId: "call_1", content: [{ text: "no" }], status: "error" } },
      image,
    ]);
  });

  test("a model of Mistral gets ids of nine letters and digits, the same in call and result", () => {
    const model = "mistral.mistral-large-2407-v1:0";
    const transcript = [user(text("Hi")), reply(model, call), result({ text: "yes" })];

    const [first] = resultOf(transcript, model) as [{ toolResult: { toolUseId: string } }];

    expect(first.toolResult.toolUseId).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(JSON.stringify(bodyOf({ transcript }, model))).toContain(
      `"toolUse":{"toolUseId":"${first.toolResult.toolUseId}"`,
    );
  });

  test("tools that are no longer offered are declared, because the vendor wants them", () => {
    const transcript = [user(text("Hi")), reply(claude, call), result({ text: "yes" })];

    expect(bodyOf({ transcript })["toolConfig"]).toEqual({
      tools: [{ toolSpec: { name: "f", inputSchema: { json: { type: "object" } } } }],
    });
  });
});

describe("reasoning", () => {
  const signed: Part = { kind: "reasoning", id, text: "Hm", opaque: { signature: "AAAA" } };
  const redacted: Part = { kind: "reasoning", id, text: "", opaque: { redactedContent: "eHl6" } };

  test("goes back to its own model as it came, and to no other one", () => {
    const transcript = [
      user(text("Hi")),
      reply(claude, signed, redacted, text("Yes")),
      user(text("And?")),
    ];
    const content = [
      { reasoningContent: { reasoningText: { text: "Hm", signature: "AAAA" } } },
      { reasoningContent: { redactedContent: "eHl6" } },
      { text: "Yes" },
    ];

    expect(bodyOf({ transcript })["messages"]).toMatchObject([{}, { content }, {}]);
    const other = bodyOf({ transcript }, "us.anthropic.claude-opus-4-6-v1");
    expect(other["messages"]).toMatchObject([{}, { content: [{ text: "Yes" }] }, {}]);
  });

  test("B10: a reply with nothing that can be sent is left out, because empty messages are refused", () => {
    const transcript = [user(text("Hi")), reply(claude, signed), user(text("And?"))];

    expect(bodyOf({ transcript })["messages"]).toEqual([
      { role: "user", content: [{ text: "Hi" }, { text: "And?" }] },
    ]);
  });

  test("Claude's thinking is not asked for in a run of calls that began without it", () => {
    const settings = {
      additionalModelRequestFields: {
        thinking: { type: "enabled", budget_tokens: 2_000 },
        top_k: 1,
      },
    };
    const call: Part = {
      kind: "tool_call",
      id,
      callId: callId("c"),
      tool: "f",
      raw: "{}",
      input: {},
    };

    const body = bodyOf({ transcript: [user(text("Hi")), reply(claude, call)], settings });

    expect(body["additionalModelRequestFields"]).toEqual({ top_k: 1 });
  });
});

describe("the shape of a reply", () => {
  const output = {
    name: "point",
    schema: {
      type: "object",
      properties: { x: { type: "number" } },
      required: ["x"],
      additionalProperties: false,
    },
  };

  test("is asked for by a field where the model has it, with the schema as text", () => {
    const body = bodyOf({ transcript: [], output });

    const structure = { jsonSchema: { name: "point", schema: JSON.stringify(output.schema) } };
    expect(body["outputConfig"]).toEqual({ textFormat: { type: "json_schema", structure } });
  });

  test("is described in words where it has not", () => {
    const body = bodyOf({ transcript: [], output }, "meta.llama3-70b-instruct-v1:0");

    expect(body["outputConfig"]).toBeUndefined();
    expect(JSON.stringify(body["system"])).toContain("point");
  });
});

test("citations of a text go back with it", () => {
  const citation = { title: "Guide", location: { documentChar: { documentIndex: 0 } }, other: 1 };
  const cited: Part = { kind: "text", id, text: "Yes", metadata: { citations: [citation] } };

  const body = bodyOf({ transcript: [user(text("Hi")), reply(claude, cited), user(text("And?"))] });

  const { other: _, ...sent } = citation;
  expect(body["messages"]).toMatchObject([
    {},
    { content: [{ citationsContent: { content: [{ text: "Yes" }], citations: [sent] } }] },
    {},
  ]);
});

test("a use of the vendor's own tool is sent only with a result behind it", () => {
  const own = (name: string, value: JsonObject): Part => ({ kind: "custom", id, name, value });
  const use = own("toolUse", {
    toolUse: { toolUseId: "t", name: "nova_grounding", type: "server_tool_use", input: {} },
  });
  const result = own("toolResult", {
    toolResult: { toolUseId: "t", type: "nova_grounding_result", content: [{ text: "Found" }] },
  });

  const { messages } = bodyOf({ transcript: [reply(claude, result), reply(claude, use)] });

  expect(JSON.stringify(messages)).not.toContain("nova_grounding");
});
