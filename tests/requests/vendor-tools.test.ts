/**
 * Tools that vendors define and the caller runs, over real sockets: an agent is offered the tool, the
 * vendor calls it, a person is asked, and the next request has the answer in the vendor's own form.
 */
import { defineAgent } from "@millrace/agent";
import type { Tool } from "@millrace/agent";
import {
  applyPatchTool,
  computerTool,
  mcpApprovalTool,
  memoryTool,
  shellTool,
  textEditorTool,
} from "@millrace/agent/tools";
import type { JsonObject, Model } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { gemini } from "@millrace/providers/gemini";
import { openai, openaiChat } from "@millrace/providers/openai";
import { startVendorServer } from "@millrace/providers/testing";
import { describe, expect, test } from "vitest";
import { encodeAnthropicMessages } from "../../packages/providers/src/testing/encode/anthropic-messages.ts";
import type { Encode } from "../../packages/providers/src/testing/encode/encoded.ts";
import { encodeGemini } from "../../packages/providers/src/testing/encode/gemini.ts";
import { encodeOpenaiChat } from "../../packages/providers/src/testing/encode/openai-chat.ts";
import { encodeOpenaiResponses } from "../../packages/providers/src/testing/encode/openai-responses.ts";
import { bytesOf } from "../../packages/providers/src/testing/fixtures.ts";
import type { LogicalPart } from "../../packages/providers/src/testing/replies.ts";
import { validateAnthropicMessages } from "../../packages/providers/src/testing/validators/anthropic-messages.ts";
import { validateGemini } from "../../packages/providers/src/testing/validators/gemini.ts";
import { validateOpenaiChat } from "../../packages/providers/src/testing/validators/openai-chat.ts";
import { validateOpenaiResponses } from "../../packages/providers/src/testing/validators/openai-responses.ts";
import { Random } from "../kit/random.ts";

interface Vendor {
  readonly id: string;
  readonly model: (model: string, baseUrl: string) => Model;
  readonly encode: Encode;
  readonly validate: (body: unknown, model: string) => readonly string[];
}

const vendors = {
  responses: {
    id: "openai-responses",
    model: (model, baseUrl) => openai(model, { baseUrl, apiKey: "k", retry: false }),
    encode: encodeOpenaiResponses,
    validate: (body) => validateOpenaiResponses(body),
  },
  chat: {
    id: "openai-chat",
    model: (model, baseUrl) => openaiChat(model, { baseUrl, apiKey: "k", retry: false }),
    encode: encodeOpenaiChat,
    validate: (body) => validateOpenaiChat(body),
  },
  messages: {
    id: "anthropic-messages",
    model: (model, baseUrl) => anthropic(model, { baseUrl, apiKey: "k", retry: false }),
    encode: encodeAnthropicMessages,
    validate: (body) => validateAnthropicMessages(body),
  },
  gemini: {
    id: "gemini",
    model: (model, baseUrl) => gemini(model, { baseUrl, apiKey: "k", retry: false }),
    encode: encodeGemini,
    validate: (body, model) => validateGemini(body, { model }),
  },
} satisfies Record<string, Vendor>;

const screen = Uint8Array.from(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
);
const picture = Buffer.from(screen).toString("base64");
const address = `data:image/png;base64,${picture}`;

/** Records what a tool ran with. */
type Ran = (input: unknown) => void;

const tools = {
  computer: (ran: Ran) =>
    computerTool({
      name: "my.screen",
      width: 1024,
      height: 768,
      run: (input) => {
        ran(input);
        return { screenshot: { bytes: screen } };
      },
    }),
  shell: (ran: Ran) =>
    shellTool({
      run: (input) => {
        ran(input);
        return { outputs: [{ stdout: "out\n", stderr: "", exit: 0 }] };
      },
    }),
  patch: (ran: Ran) =>
    applyPatchTool({
      run: (input) => {
        ran(input);
        return "patched";
      },
    }),
  editor: (ran: Ran) =>
    textEditorTool({
      approve: "ask",
      run: (input) => {
        ran(input);
        return "1: one";
      },
    }),
  memory: (ran: Ran) =>
    memoryTool({
      approve: "ask",
      run: (input) => {
        ran(input);
        return "renamed";
      },
    }),
  approval: (ran: Ran) => mcpApprovalTool({ run: ran }),
} satisfies Record<string, (ran: Ran) => Tool<string, never, unknown, never>>;

interface Case {
  readonly name: string;
  readonly vendor: Vendor;
  readonly model: string;
  readonly tool: (ran: Ran) => Tool<string, never, unknown, never>;
  /** A scenario of the fixtures, or a call that the vendor's encoder writes. */
  readonly reply: string | { readonly tool: string; readonly input: JsonObject };
  /** The tool's entry in the request. Undefined: it needs none. */
  readonly declared: JsonObject | undefined;
  readonly beta?: string;
  /** What the person is shown, and the tool gets. */
  readonly input: JsonObject;
  /** What the next request has of the call and its answer. */
  readonly allowed: readonly JsonObject[];
  readonly denied: readonly JsonObject[];
}

const call = "call_1";
const text = (words: string): JsonObject => ({ type: "text", text: words });
const noOutput = "(no output)";
const shot = { type: "image", source: { type: "base64", media_type: "image/png", data: picture } };
const denial = "a person denied this call";
const shellText = '{"outputs":[{"stdout":"out\\n","stderr":"","exit":0}]}';

const use = (name: string, input: JsonObject): JsonObject => ({
  type: "tool_use",
  id: call,
  name,
  input,
});
const used = (content: unknown, error = false): JsonObject => ({
  type: "tool_result",
  tool_use_id: call,
  content: content as string,
  ...(error ? { is_error: true } : {}),
});
const patchInput = { type: "update_file", path: "src/a.ts", diff: '@@\n-old\n+new "ü"\n' };
const view = { command: "view", path: "a.ts" };
const rename = { command: "rename", old_path: "/memories/a", new_path: "/memories/b" };
const approvalId = "mcpr_68c1a2b4f01b819f9c0d1e2f3a4b5c6d7e8f90a1b2c3d4f1";

const cases: readonly Case[] = [
  {
    name: "OpenAI's computer, one action",
    vendor: vendors.responses,
    model: "gpt-5.4",
    tool: tools.computer,
    reply: "native-computer-single",
    declared: { type: "computer" },
    input: { actions: [{ action: "screenshot" }] },
    allowed: [
      {
        type: "computer_call",
        id: "cu_68c1a2b4f01b819f9c0d1e2f3a4b5c6d7e8f90a1b2c3d4e6",
        call_id: "call_Single0001",
        status: "completed",
        action: { type: "screenshot" },
        pending_safety_checks: [],
      },
      {
        type: "computer_call_output",
        call_id: "call_Single0001",
        output: { type: "computer_screenshot", image_url: address },
      },
    ],
    // The vendor takes no answer without a screenshot, so a denied call goes as a function's.
    denied: [
      {
        type: "function_call",
        call_id: "call_Single0001",
        name: "computer",
        arguments: '{"actions":[{"action":"screenshot"}]}',
      },
      { type: "function_call_output", call_id: "call_Single0001", output: denial },
    ],
  },
  {
    name: "OpenAI's computer with a safety check",
    vendor: vendors.responses,
    model: "gpt-5.4",
    tool: tools.computer,
    reply: "native-computer",
    declared: { type: "computer" },
    input: {
      actions: [
        { action: "click", x: 10, y: 20, button: "middle", keys: ["Control"] },
        { action: "click", x: 1, y: 2, times: 2 },
        { action: "scroll", x: 5, y: 6, dx: 0, dy: -300 },
        {
          action: "drag",
          path: [
            { x: 1, y: 1 },
            { x: 9, y: 9 },
          ],
        },
        { action: "move", x: 3, y: 4 },
        { action: "key", keys: ["Control", "Enter"] },
        { action: "type", text: "héllo" },
        { action: "wait" },
        { action: "screenshot" },
      ],
      checks: [
        { code: "malicious_instructions", message: "The page may try to direct the model." },
      ],
    },
    allowed: [
      { type: "reasoning", id: "rs_68c1a2b4f01b819f9c0d1e2f3a4b5c6d7e8f90a1b2c3d4a1" },
      {
        type: "computer_call_output",
        call_id: "call_Batch00001",
        output: { type: "computer_screenshot", image_url: address },
        acknowledged_safety_checks: [
          {
            id: "cu_sc_68c1a2b4f01b81",
            code: "malicious_instructions",
            message: "The page may try to direct the model.",
          },
        ],
      },
    ],
    denied: [{ type: "function_call_output", call_id: "call_Batch00001", output: denial }],
  },
  {
    name: "OpenAI's first computer",
    vendor: vendors.responses,
    model: "computer-use-preview",
    tool: tools.computer,
    reply: "native-computer-single",
    declared: {
      type: "computer_use_preview",
      display_width: 1024,
      display_height: 768,
      environment: "browser",
    },
    input: { actions: [{ action: "screenshot" }] },
    allowed: [
      {
        type: "computer_call_output",
        call_id: "call_Single0001",
        output: { type: "computer_screenshot", image_url: address },
      },
    ],
    denied: [{ type: "function_call_output", call_id: "call_Single0001", output: denial }],
  },
  {
    name: "Anthropic's computer",
    vendor: vendors.messages,
    model: "claude-opus-4-6",
    tool: tools.computer,
    reply: { tool: "computer", input: { action: "left_click", coordinate: [3, 4] } },
    declared: {
      type: "computer_20251124",
      name: "computer",
      display_width_px: 1024,
      display_height_px: 768,
    },
    beta: "computer-use-2025-11-24",
    input: { actions: [{ action: "click", x: 3, y: 4, button: "left" }] },
    allowed: [
      use("computer", { action: "left_click", coordinate: [3, 4] }),
      used([text(noOutput), shot]),
    ],
    denied: [use("computer", { action: "left_click", coordinate: [3, 4] }), used(denial, true)],
  },
  {
    name: "Anthropic's computer of an older model",
    vendor: vendors.messages,
    model: "claude-sonnet-4-5",
    tool: tools.computer,
    reply: { tool: "computer", input: { action: "screenshot" } },
    declared: {
      type: "computer_20250124",
      name: "computer",
      display_width_px: 1024,
      display_height_px: 768,
    },
    beta: "computer-use-2025-01-24",
    input: { actions: [{ action: "screenshot" }] },
    allowed: [use("computer", { action: "screenshot" }), used([text(noOutput), shot])],
    denied: [used(denial, true)],
  },
  {
    name: "Gemini's computer",
    vendor: vendors.gemini,
    model: "gemini-3-flash-preview",
    tool: tools.computer,
    reply: {
      tool: "click_at",
      input: { x: 500, y: 250, safety_decision: { decision: "require_confirmation" } },
    },
    declared: { computerUse: { environment: "ENVIRONMENT_BROWSER" } },
    input: {
      actions: [{ action: "click", x: 512, y: 192 }],
      checks: [{ code: "require_confirmation" }],
    },
    allowed: [
      {
        name: "click_at",
        args: { x: 500, y: 250, safety_decision: { decision: "require_confirmation" } },
      },
      {
        name: "click_at",
        response: { output: noOutput, safety_acknowledgement: "true" },
        parts: [{ inlineData: { mimeType: "image/png", data: picture } }],
      },
    ],
    denied: [{ name: "click_at", response: { error: denial } }],
  },
  {
    name: "a computer as a function of chat completions",
    vendor: vendors.chat,
    model: "gpt-5.4",
    tool: tools.computer,
    reply: { tool: "my_screen", input: { actions: [{ action: "back" }] } },
    declared: { type: "function" },
    input: { actions: [{ action: "back" }] },
    allowed: [{ role: "tool", tool_call_id: call, content: noOutput }],
    denied: [{ role: "tool", tool_call_id: call, content: denial }],
  },
  {
    name: "OpenAI's shell",
    vendor: vendors.responses,
    model: "gpt-5.1",
    tool: tools.shell,
    reply: "native-shell",
    declared: { type: "shell", environment: { type: "local" } },
    input: { commands: ['echo "ü"', "ls -l"], timeoutMs: 120_000, maxOutputLength: 4_096 },
    allowed: [
      {
        type: "shell_call",
        id: "sh_68c1a2b4f01b819f9c0d1e2f3a4b5c6d7e8f90a1b2c3d4e7",
        call_id: "call_Shell00001",
        status: "completed",
        environment: { type: "local" },
        action: {
          commands: ['echo "ü"', "ls -l"],
          timeout_ms: 120_000,
          max_output_length: 4_096,
        },
      },
      {
        type: "shell_call_output",
        call_id: "call_Shell00001",
        output: [{ stdout: "out\n", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
        max_output_length: 4_096,
      },
    ],
    denied: [
      {
        type: "shell_call_output",
        call_id: "call_Shell00001",
        output: [{ stdout: "", stderr: denial, outcome: { type: "exit", exit_code: 1 } }],
        max_output_length: 4_096,
      },
    ],
  },
  {
    name: "OpenAI's first shell",
    vendor: vendors.responses,
    model: "codex-mini-latest",
    tool: tools.shell,
    reply: "native-local-shell",
    declared: { type: "local_shell" },
    input: {
      commands: ["bash -lc 'echo '\\''a b'\\'''"],
      timeoutMs: 1_000,
      directory: "/srv",
      env: { A: "1" },
    },
    allowed: [{ type: "local_shell_call_output", id: "call_Local00001", output: shellText }],
    denied: [{ type: "local_shell_call_output", id: "call_Local00001", output: denial }],
  },
  {
    name: "Anthropic's shell",
    vendor: vendors.messages,
    model: "claude-sonnet-4-5",
    tool: tools.shell,
    reply: { tool: "bash", input: { command: "ls" } },
    declared: { type: "bash_20250124", name: "bash" },
    input: { commands: ["ls"] },
    allowed: [use("bash", { command: "ls" }), used(shellText)],
    denied: [use("bash", { command: "ls" }), used(denial, true)],
  },
  {
    name: "a shell as a function of Gemini",
    vendor: vendors.gemini,
    model: "gemini-3-flash-preview",
    tool: tools.shell,
    reply: { tool: "shell", input: { commands: ["ls"] } },
    declared: { name: "shell" },
    input: { commands: ["ls"] },
    allowed: [{ name: "shell", response: { output: shellText } }],
    denied: [{ name: "shell", response: { error: denial } }],
  },
  {
    name: "OpenAI's patches",
    vendor: vendors.responses,
    model: "gpt-5.1-codex",
    tool: tools.patch,
    reply: "native-apply-patch",
    declared: { type: "apply_patch" },
    input: patchInput,
    allowed: [
      {
        type: "apply_patch_call",
        id: "apc_68c1a2b4f01b819f9c0d1e2f3a4b5c6d7e8f90a1b2c3d4e9",
        call_id: "call_Patch00001",
        status: "completed",
        operation: patchInput,
      },
      {
        type: "apply_patch_call_output",
        call_id: "call_Patch00001",
        status: "completed",
        output: "patched",
      },
    ],
    denied: [
      {
        type: "apply_patch_call_output",
        call_id: "call_Patch00001",
        status: "failed",
        output: denial,
      },
    ],
  },
  {
    name: "patches as a function of Anthropic",
    vendor: vendors.messages,
    model: "claude-sonnet-4-5",
    tool: tools.patch,
    reply: { tool: "apply_patch", input: patchInput },
    declared: { name: "apply_patch" },
    input: patchInput,
    allowed: [use("apply_patch", patchInput), used("patched")],
    denied: [used(denial, true)],
  },
  {
    name: "Anthropic's editor",
    vendor: vendors.messages,
    model: "claude-sonnet-4-5",
    tool: tools.editor,
    reply: { tool: "str_replace_based_edit_tool", input: view },
    declared: { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
    input: view,
    allowed: [use("str_replace_based_edit_tool", view), used("1: one")],
    denied: [used(denial, true)],
  },
  {
    name: "Anthropic's editor of an older model",
    vendor: vendors.messages,
    model: "claude-3-7-sonnet-latest",
    tool: tools.editor,
    reply: { tool: "str_replace_editor", input: view },
    declared: { type: "text_editor_20250124", name: "str_replace_editor" },
    input: view,
    allowed: [use("str_replace_editor", view), used("1: one")],
    denied: [used(denial, true)],
  },
  {
    name: "an editor as a function of OpenAI",
    vendor: vendors.responses,
    model: "gpt-5.1",
    tool: tools.editor,
    reply: { tool: "text_editor", input: view },
    declared: { type: "function", name: "text_editor" },
    input: view,
    allowed: [{ type: "function_call_output", call_id: call, output: "1: one" }],
    denied: [{ type: "function_call_output", call_id: call, output: denial }],
  },
  {
    name: "Anthropic's memory",
    vendor: vendors.messages,
    model: "claude-sonnet-4-5",
    tool: tools.memory,
    reply: { tool: "memory", input: rename },
    declared: { type: "memory_20250818", name: "memory" },
    input: rename,
    allowed: [use("memory", rename), used("renamed")],
    denied: [used(denial, true)],
  },
  {
    name: "a memory as a function of Gemini",
    vendor: vendors.gemini,
    model: "gemini-3-flash-preview",
    tool: tools.memory,
    reply: { tool: "memory", input: rename },
    declared: { name: "memory" },
    input: rename,
    allowed: [{ name: "memory", response: { output: "renamed" } }],
    denied: [{ name: "memory", response: { error: denial } }],
  },
  {
    name: "OpenAI's approval of calls of MCP servers",
    vendor: vendors.responses,
    model: "gpt-5",
    tool: tools.approval,
    reply: "native-mcp-approval",
    declared: undefined,
    input: { server: "wiki", tool: "ask_question", arguments: '{"repo":"a/b"}' },
    allowed: [
      {
        type: "mcp_approval_request",
        id: approvalId,
        arguments: '{"repo":"a/b"}',
        name: "ask_question",
        server_label: "wiki",
      },
      {
        type: "mcp_approval_response",
        approval_request_id: approvalId,
        approve: true,
        reason: "approved",
      },
    ],
    denied: [
      {
        type: "mcp_approval_response",
        approval_request_id: approvalId,
        approve: false,
        reason: denial,
      },
    ],
  },
];

const usage = {
  inputTokens: 10,
  outputTokens: 9,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

function bytesFor({ vendor, reply }: Case): Uint8Array {
  if (typeof reply === "string") return bytesOf(vendor.id, reply);
  const raw = JSON.stringify(reply.input);
  const part: LogicalPart = {
    kind: "tool_call",
    id: call,
    raw,
    signature: undefined,
    ...reply,
  };
  return vendor.encode({ parts: [part], stop: "tools", usage }, new Random(1)).bytes;
}

function endOf({ vendor }: Case): Uint8Array {
  const said: LogicalPart = { kind: "text", text: "Done.", signature: undefined };
  return vendor.encode({ parts: [said], stop: "end", usage }, new Random(2)).bytes;
}

/** Plays the call and an end, and gives what was asked, what ran, and both requests. */
async function play(given: Case, answer: "allow" | "deny") {
  const ran: unknown[] = [];
  const asked: unknown[] = [];
  await using server = await startVendorServer({
    replies: [{ body: bytesFor(given) }, { body: endOf(given) }],
  });
  const agent = defineAgent({
    model: given.vendor.model(given.model, server.url),
    tools: [given.tool((input) => void ran.push(input))],
  });
  const result = await agent.run("Go on.", {
    ask: ({ input }: { readonly input: unknown }) => {
      asked.push(input);
      return answer;
    },
  }).result;
  const [first, second] = server.requests;
  const faults = server.requests.flatMap(({ json }) => given.vendor.validate(json, given.model));
  return { ran, asked, result, first, json: second?.json, faults };
}

/** The objects in a value, at any depth. */
function objectsIn(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

/** Declared whenever an agent has a tool. */
const readOutput = { name: "read_output" };

describe("tools that vendors define", () => {
  test.each(cases)("$name is offered, asked for, run and answered", async (given) => {
    const { ran, asked, result, first, json, faults } = await play(given, "allow");

    expect(result).toMatchObject({ outcome: "completed", text: "Done." });
    if (given.declared === undefined) expect(first?.json).toMatchObject({ tools: [readOutput] });
    else expect(objectsIn(first?.json)).toContainEqual(expect.objectContaining(given.declared));
    if (given.beta !== undefined) expect(first?.headers["anthropic-beta"]).toBe(given.beta);
    expect(asked[0]).toEqual(given.input);
    expect(ran[0]).toEqual(given.input);
    for (const item of given.allowed) {
      expect(objectsIn(json)).toContainEqual(expect.objectContaining(item));
    }
    expect(faults).toEqual([]);
  });

  test.each(cases)("$name does not run if it is denied, and the vendor is told", async (given) => {
    const { ran, asked, result, json, faults } = await play(given, "deny");

    expect(result).toMatchObject({ outcome: "completed", text: "Done." });
    expect(asked[0]).toEqual(given.input);
    expect(ran).toEqual([]);
    for (const item of given.denied) {
      expect(objectsIn(json)).toContainEqual(expect.objectContaining(item));
    }
    expect(faults).toEqual([]);
  });
});
