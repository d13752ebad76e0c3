/** What an agent hands to a vendor, over real sockets: tools with unions, and files. */
import { defineAgent, defineTool } from "@millrace/agent";
import { fromJsonSchema } from "@millrace/agent/json-schema";
import { isJsonObject } from "@millrace/core/wire";
import type { Json, JsonObject, Model } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { gemini } from "@millrace/providers/gemini";
import { openai, openaiChat } from "@millrace/providers/openai";
import { startVendorServer } from "@millrace/providers/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const action = z.discriminatedUnion("op", [
  z.object({ op: z.literal("add"), amount: z.number() }),
  z.object({ op: z.literal("remove"), id: z.string() }),
  z.object({ op: z.literal("tree"), root: z.object({ below: z.array(z.string()).nullable() }) }),
]);
type Action = z.infer<typeof action>;

const actions: readonly Action[] = [
  { op: "add", amount: 1 },
  { op: "remove", id: "a" },
  { op: "tree", root: { below: null } },
];

interface Vendor {
  readonly name: string;
  readonly model: (baseUrl: string) => Model;
  readonly calls: (input: JsonObject) => readonly object[];
  readonly ends: readonly object[];
  /** The schema in the description of the only tool. */
  readonly schema: (body: JsonObject) => Json | undefined;
}

const apiKey = "k";
const settings = { apiKey, retry: false } as const;

/** The value at a path of a request. */
function at(body: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (value, key) =>
      isJsonObject(value) || Array.isArray(value) ? (value as JsonObject)[key] : undefined,
    body,
  );
}

const vendors: readonly Vendor[] = [
  {
    name: "openai-chat",
    model: (baseUrl) => openaiChat("gpt-5", { baseUrl, ...settings }),
    calls: (input) => {
      const call = {
        index: 0,
        id: "c",
        function: { name: "act", arguments: JSON.stringify(input) },
      };
      return [
        { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] },
        { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
      ];
    },
    ends: [
      { choices: [{ index: 0, delta: { content: "Done" }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    ],
    schema: (body) => at(body, "tools", "0", "function", "parameters"),
  },
  {
    name: "openai-responses",
    model: (baseUrl) => openai("gpt-5", { baseUrl, ...settings }),
    calls: (input) => {
      const text = JSON.stringify(input);
      const item = {
        type: "function_call",
        id: "fc_1",
        call_id: "c",
        name: "act",
        arguments: text,
      };
      return [
        { type: "response.output_item.added", output_index: 0, item },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { id: "r", status: "completed", output: [] } },
      ];
    },
    ends: [{ type: "response.completed", response: { id: "r", status: "completed", output: [] } }],
    schema: (body) => at(body, "tools", "0", "parameters"),
  },
  {
    name: "anthropic-messages",
    model: (baseUrl) => anthropic("claude-sonnet-4-5", { baseUrl, ...settings }),
    calls: (input) => [
      { type: "message_start", message: { id: "m", content: [] } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "c", name: "act", input: {} },
      },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ],
    ends: [
      { type: "message_start", message: { id: "m", content: [] } },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ],
    schema: (body) => at(body, "tools", "0", "input_schema"),
  },
  {
    name: "gemini",
    model: (baseUrl) => gemini("gemini-3-pro", { baseUrl, ...settings }),
    calls: (args) => {
      const parts = [{ functionCall: { name: "act", args } }];
      return [{ candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] }];
    },
    ends: [
      {
        candidates: [
          { content: { role: "model", parts: [{ text: "Done" }] }, finishReason: "STOP" },
        ],
      },
    ],
    schema: (body) => at(body, "tools", "0", "functionDeclarations", "0", "parametersJsonSchema"),
  },
];

function streamOf(events: readonly object[], name: string): string {
  const end = name === "openai-chat" ? "data: [DONE]\n\n" : "";
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") + end;
}

describe.each(vendors)("$name", ({ name, model, calls, ends, schema }) => {
  test("a tool is called with each variant of its union, and gets what its own schema fits", async () => {
    const ran: Action[] = [];
    const act = defineTool({
      name: "act",
      input: action,
      run: (input) => {
        ran.push(input);
        return "ok";
      },
    });
    await using server = await startVendorServer({
      replies: [...actions.map((input) => calls(input)), ends].map((events) => ({
        body: streamOf(events, name),
      })),
    });
    const result = await defineAgent({ model: model(server.url), tools: [act] }).run("go").result;

    expect(result.outcome).toBe("completed");
    expect(ran).toStrictEqual(actions);
    const sent = server.requests[0]?.json as JsonObject;
    // What is sent takes every variant, and names each of them.
    const taken = fromJsonSchema(schema(sent) as JsonObject)["~standard"];
    for (const input of actions) expect(taken.validate(input)).toStrictEqual({ value: input });
    for (const word of ["add", "remove", "tree", "amount", "below"]) {
      expect(JSON.stringify(sent["tools"])).toContain(word);
    }
  });

  test("a file that the vendor does not take fails the run, and the run's cause is what to do", async () => {
    await using server = await startVendorServer({ replies: [] });
    const file = new File([Uint8Array.of(80, 75, 3, 4, 0)], "all.zip", { type: "application/zip" });
    const run = defineAgent({ model: model(server.url) }).run(["Read it.", file]);
    const result = await run.result;

    expect(server.requests).toHaveLength(0);
    expect(result).toMatchObject({ outcome: "failed", cause: { code: "bad_request" } });
    expect(result.outcome === "failed" && result.cause?.message).toMatch(/"all\.zip".*convert it/s);
  });

  test("a refused file is refused once: the session goes on without it, and its name stands in its place", async () => {
    await using server = await startVendorServer({ replies: [{ body: streamOf(ends, name) }] });
    const file = new File([Uint8Array.of(80, 75, 3, 4, 0)], "all.zip", { type: "application/zip" });
    await using session = await defineAgent({ model: model(server.url) }).open();

    const refused = await session.send(["Read it.", file]).result;
    const next = await session.send("Go on without it.").result;

    expect([refused.outcome, next.outcome]).toEqual(["failed", "completed"]);
    expect(refused.outcome === "failed" && refused.cause?.message).toContain("without it");
    const body = JSON.stringify(server.requests.map(({ json }) => json));
    for (const words of ["Read it.", "all.zip", "left out", "Go on without it."]) {
      expect(body).toContain(words);
    }
  });

  test("a file of text is read, whatever its type", async () => {
    await using server = await startVendorServer({ replies: [{ body: streamOf(ends, name) }] });
    const file = new File(["const secret = 42;\n"], "secret.ts");
    await defineAgent({ model: model(server.url) }).run(["Read it.", file]).result;

    const body = JSON.stringify(server.requests[0]?.json);
    const encoded = Buffer.from("const secret = 42;\n").toString("base64");
    expect(body.includes("const secret = 42;") || body.includes(encoded)).toBe(true);
    expect(body).toContain("secret.ts");
  });
});
