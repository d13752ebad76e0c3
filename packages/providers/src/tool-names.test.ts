/** Tools with names that vendors refuse: what goes out, and what comes back, for each protocol. */
import { callId, itemId, partId } from "@millrace/core/writing";
import type { Item, JsonObject, Model } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../tests/kit/runs.ts";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiChat } from "./openai.ts";
import { legalName } from "./protocols/call-names.ts";
import { wireNames } from "./protocols/tool-names.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { validateAnthropicMessages } from "./testing/validators/anthropic-messages.ts";
import { validateGemini } from "./testing/validators/gemini.ts";
import { validateOpenaiChat } from "./testing/validators/openai-chat.ts";
import { validateOpenaiResponses } from "./testing/validators/openai-responses.ts";

const wire = "fs_read_file";

interface Vendor {
  readonly name: string;
  readonly model: (baseUrl: string) => Model;
  /** A call of the tool by its wire name, in the vendor's events. */
  readonly events: readonly object[];
  readonly choice: JsonObject;
  /** What is wrong with a request by the vendor's own schema. */
  readonly validate: (body: unknown) => readonly unknown[];
}

const apiKey = "k";
const call = { type: "function_call", id: "fc_1", call_id: "call_2", name: wire, arguments: "{}" };
const chatCall = { index: 0, id: "call_2", function: { name: wire, arguments: "{}" } };

const vendors: readonly Vendor[] = [
  {
    name: "openai-chat",
    model: (baseUrl) => openaiChat("gpt-5", { baseUrl, apiKey }),
    events: [
      { choices: [{ index: 0, delta: { tool_calls: [chatCall] }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    ],
    choice: { tool_choice: { type: "function", function: { name: "fs.read_file" } } },
    validate: (body) => validateOpenaiChat(body),
  },
  {
    name: "openai-responses",
    model: (baseUrl) => openai("gpt-5", { baseUrl, apiKey }),
    events: [
      { type: "response.output_item.added", output_index: 0, item: call },
      { type: "response.output_item.done", output_index: 0, item: call },
      { type: "response.completed", response: { id: "r", status: "completed", output: [] } },
    ],
    choice: { tool_choice: { type: "function", name: "fs.read_file" } },
    validate: (body) => validateOpenaiResponses(body),
  },
  {
    name: "anthropic-messages",
    model: (baseUrl) => anthropic("claude-sonnet-4-5", { baseUrl, apiKey }),
    events: [
      { type: "message_start", message: { id: "m", content: [] } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "call_2", name: wire, input: {} },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ],
    choice: { tool_choice: { type: "tool", name: "fs.read_file" } },
    validate: (body) => validateAnthropicMessages(body),
  },
  {
    name: "gemini",
    model: (baseUrl) => gemini("gemini-2.5-flash", { baseUrl, apiKey }),
    events: [
      {
        candidates: [
          {
            content: { role: "model", parts: [{ functionCall: { name: wire, args: {} } }] },
            finishReason: "STOP",
          },
        ],
      },
    ],
    choice: {
      toolConfig: {
        functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["fs.read_file"] },
      },
    },
    validate: (body) => validateGemini(body, { model: "gemini-2.5-flash" }),
  },
];

const input = { type: "object", properties: {} };
const tool = "fs.read_file";
const id = callId("call_1");
const transcript: readonly Item[] = [
  {
    id: itemId("i1"),
    author: "user",
    parts: [{ kind: "text", id: partId("p1"), text: "go" }],
    stop: "end",
  },
  {
    id: itemId("i2"),
    author: "model",
    parts: [{ kind: "tool_call", id: partId("p1"), callId: id, tool, raw: "{}", input: {} }],
    stop: "tools",
  },
  {
    id: itemId("i3"),
    author: "tool",
    parts: [
      { kind: "tool_result", id: partId("p1"), callId: id, tool, status: "ok", text: "done" },
    ],
    stop: "end",
  },
];

test.each(vendors)(
  "a tool with a name that vendors refuse is offered, chosen and remembered by a wire name, and called by its own: $name",
  async ({ model, events, choice, validate }) => {
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    await using server = await startVendorServer({ replies: [{ body }] });
    const tools = [
      { name: tool, input },
      { name: "shell.exec", input },
    ];
    const request: ModelRequest = { transcript, tools, settings: choice };
    const stream = model(server.url).stream(request);
    const begun: string[] = [];
    for await (const delta of stream) if ("tool" in delta) begun.push(delta.tool);
    const reply = await stream.result;

    expect(reply.parts).toMatchObject([{ kind: "tool_call", tool }]);
    expect(begun).toStrictEqual([tool]);
    const sent = server.requests[0]?.json;
    expect(validate(sent)).toStrictEqual([]);
    const text = JSON.stringify(sent);
    expect(text).not.toContain(tool);
    expect(text).toContain('"shell_exec"');
    // The tool, its call, the choice, and with Gemini its answer.
    expect(text.split(`"${wire}"`).length - 1).toBeGreaterThanOrEqual(3);
  },
);

describe("wire names", () => {
  test("are the tools' own where all vendors take them", () => {
    expect(wireNames(["read", "fs_read", "a-b"]).toWire.size).toBe(0);
  });

  test("of tools that would be alike are told apart by a hash of their own names", () => {
    const { toWire } = wireNames(["fs.read", "fs_read", "fs/read", "shell.exec"]);
    expect(Object.fromEntries(toWire)).toStrictEqual({
      "fs.read": "fs_read_d154e2a4",
      "fs/read": "fs_read_e3d66a57",
      "shell.exec": "shell_exec",
    });
  });

  test.each([
    ["3d_render", "_3d_render"],
    ["größe", "gr__e"],
    ["日本", "__"],
    ["😀", "_"],
    ["-dash", "_-dash"],
  ])("begin as all vendors want it, and have their letters: %s is %s", (name, wire) => {
    expect(wireNames([name]).toWire.get(name)).toBe(wire);
  });

  test("of former tools give way to those of offered ones, and do not change them", () => {
    const former = ["fs_read", "fs/read", "look", "gone.tool", "_gone_tool"];
    const { toWire, fromWire } = wireNames(["fs.read", "look"], former);

    expect(toWire.get("fs.read")).toBe(wireNames(["fs.read", "look"]).toWire.get("fs.read"));
    expect(Object.fromEntries(toWire)).toStrictEqual({
      "fs.read": "fs_read",
      "fs/read": "fs_read_e3d66a57",
      fs_read: expect.stringMatching(/^fs_read_[\da-f]{8}$/) as string,
      "gone.tool": "gone_tool",
    });
    for (const [own, sent] of toWire) expect(fromWire.get(sent)).toBe(own);
  });

  test("are legal, different, the same in any order, and lead back to their tools", () => {
    const name = fc.oneof(
      fc.stringMatching(/^[a-c]{1,2}[._/:-][a-c]{1,2}$/),
      fc.string({ minLength: 1 }),
      fc.stringMatching(/^[a-b.]{60,80}$/),
    );
    const times = runs(2_000, 200_000);
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 12 }), fc.nat(12), (names, offered) => {
        const former = wireNames(names.slice(0, offered), names.slice(offered));
        const every = names.map((each) => former.toWire.get(each) ?? each);
        expect(new Set(every).size).toBe(names.length);
        for (const each of every) expect(each).toMatch(legalName);
        const { toWire, fromWire } = wireNames(names);
        const all = names.map((each) => toWire.get(each) ?? each);
        expect(new Set(all).size).toBe(names.length);
        for (const each of all) expect(each).toMatch(legalName);
        for (const [own, sent] of toWire) expect(fromWire.get(sent)).toBe(own);
        const backwards = wireNames(names.toReversed()).toWire;
        for (const each of names) expect(backwards.get(each)).toBe(toWire.get(each));
      }),
      { numRuns: times },
    );
    console.log(`count: wire names of tools lead back, ${times} lists of tools, 0 failures`);
  });
});
