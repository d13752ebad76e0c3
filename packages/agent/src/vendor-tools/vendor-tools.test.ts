import { call, say, scriptedModel } from "@millrace/core/testing";
import type { Json, JsonObject, Part, Transcript } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { defineAgent } from "../define/define-agent.ts";
import type { AnyTool, Tool, ToolAttachment } from "../definition/tool.ts";
import { session } from "../testing/tools.ts";
import {
  applyPatchTool,
  computerTool,
  mcpApprovalTool,
  memoryTool,
  shellTool,
  textEditorTool,
} from "./index.ts";

const nothing = (): undefined => undefined;
const computer = computerTool({ width: 100, height: 50, run: () => ({}) });
const shell = shellTool({ run: () => "" });
const patch = applyPatchTool({ run: nothing });
const editor = textEditorTool({ run: nothing });
const memory = memoryTool({ run: nothing });
const approval = mcpApprovalTool();

/** What the tool's own policy decides. */
async function policyOf(tool: AnyTool, input: JsonObject): Promise<unknown> {
  const { approve } = tool;
  return typeof approve === "function" ? await approve(input as never, session) : approve;
}

/** What is wrong with an input, as `path: message`. */
async function issuesOf(tool: AnyTool, input: Json): Promise<readonly string[]> {
  const { issues = [] } = await tool.input["~standard"].validate(input);
  return issues.map(({ path = [], message }) => `${path.map(String).join(".")}: ${message}`);
}

describe("without a policy of the caller", () => {
  const edit = { command: "create", path: "a", file_text: "" };

  test.each<[string, AnyTool, JsonObject, string]>([
    ["a computer is asked for", computer, { actions: [{ action: "screenshot" }] }, "ask"],
    ["a shell is asked for", shell, { commands: ["ls"] }, "ask"],
    ["a patch is asked for", patch, { type: "delete_file", path: "a" }, "ask"],
    ["an edit is asked for", editor, edit, "ask"],
    ["a look at a file is allowed", editor, { command: "view", path: "a" }, "allow"],
    ["the agent's own memory is allowed", memory, { ...edit, path: "/memories/a" }, "allow"],
    ["a call of a server is asked for", approval, {}, "ask"],
  ])("%s", async (_, tool, input, policy) => {
    expect(await policyOf(tool, input)).toBe(policy);
  });

  test("a policy that is given as undefined counts as left out", async () => {
    const tool = shellTool({ run: () => "", approve: undefined, name: undefined });

    expect(await policyOf(tool, { commands: [] })).toBe("ask");
    expect(tool.name).toBe("shell");
  });
});

test.each([
  ["allow", "ask"],
  ["ask", "ask"],
  ["deny", "deny"],
] as const)("with a check of the vendor, %s becomes %s", async (approve, policy) => {
  const tool = computerTool({ width: 1, height: 1, approve, run: () => ({}) });
  const checks = [{ code: "malicious_instructions" }];

  expect(await policyOf(tool, { actions: [{ action: "wait" }], checks })).toBe(policy);
  expect(await policyOf(tool, { actions: [{ action: "wait" }] })).toBe(approve);
});

describe("an input", () => {
  test.each<[string, AnyTool, Json, readonly string[]]>([
    [
      "without actions",
      computer,
      { actions: [] },
      ["actions: must be a list of one action or more"],
    ],
    ["with all that an action needs", computer, { actions: [{ action: "click", x: 1, y: 2 }] }, []],
    [
      "of an action that lacks a field",
      computer,
      { actions: [{ action: "wait" }, { action: "type" }] },
      ["actions.1.text: is required for type"],
    ],
    [
      "with a field of another type",
      computer,
      { actions: [{ action: "move", x: "1", y: 2 }] },
      ['actions.0.x: must be "number"'],
    ],
    [
      "with checks that are none",
      computer,
      { actions: [{ action: "wait" }], checks: [1] },
      ["checks: must be a list of objects"],
    ],
    ["that is no object", shell, [], [": must be an object"]],
    [
      "with commands that are no texts",
      shell,
      { commands: [1] },
      ["commands: must be a list of texts"],
    ],
    [
      "with a time that is no number",
      shell,
      { commands: [], timeoutMs: "1" },
      ['timeoutMs: must be "integer"'],
    ],
    [
      "of an unknown kind",
      patch,
      { type: "rename_file", path: "a" },
      ["type: must be one of create_file, update_file, delete_file"],
    ],
    [
      "without its diff",
      patch,
      { type: "create_file", path: "a" },
      ["diff: is required for create_file"],
    ],
    [
      "with a tag of the prototype",
      patch,
      { type: "toString", path: "a" },
      ["type: must be one of create_file, update_file, delete_file"],
    ],
    [
      "of a server's call without a tool",
      approval,
      { server: "a", arguments: "{}" },
      [": must have server, tool and arguments"],
    ],
  ])("%s is judged", async (_, tool, input, expected) => {
    expect(await issuesOf(tool, input)).toEqual(expected);
  });

  test.each([
    "/etc/passwd",
    "/memories/../etc/passwd",
    "/memories/..",
    "/memoriesx/a",
    "memories/a",
    "/memories/%2e%2e/etc",
    "/memories/a\\..\\b",
    "/memories/a\0b",
  ])("of a memory does not lead out of it: %j", async (path) => {
    expect(await issuesOf(memory, { command: "delete", path })).toHaveLength(1);
    expect(
      await issuesOf(memory, { command: "rename", old_path: "/memories/a", new_path: path }),
    ).toHaveLength(1);
  });

  test.each(["/memories", "/memories/", "/memories/a b/ü.md"])(
    "of a memory may be %j",
    async (path) => {
      expect(await issuesOf(memory, { command: "view", path })).toEqual([]);
    },
  );
});

test("options are checked at the door", () => {
  const run = (): string => "";

  expect(() => shellTool({ run, execute: run } as never)).toThrow("write the function as run");
  expect(() => computerTool({ width: 0, height: 1, run: () => ({}) })).toThrow("width is 0");
  expect(() => computerTool({ width: 1, height: 1 } as never)).toThrow("run is missing");
  expect(() => textEditorTool({ run, maxCharacters: -1 })).toThrow("maxCharacters is -1");
  expect(() => memoryTool({ run, approve: "maybe" as never })).toThrow('approve is "maybe"');
});

test("the schema for other vendors has no zoom unless the computer has one", () => {
  const zooming = computerTool({ width: 1, height: 1, zoom: true, run: () => ({}) });

  expect(JSON.stringify(computer.inputSchema)).not.toContain('"zoom"');
  expect(JSON.stringify(zooming.inputSchema)).toContain('"zoom"');
});

/** Runs one call of a tool, and gives the parts of its answer, as the next request has them. */
async function answerOf(
  tool: Tool<string, never, unknown, never>,
  input: JsonObject,
): Promise<readonly Part[]> {
  const model = scriptedModel([[call(tool.name, input)], [say("Done.")]]);
  let last: Transcript = [];
  const beforeReply = (request: ModelRequest): ModelRequest => {
    last = request.transcript;
    return request;
  };
  const agent = defineAgent({ model, tools: [tool], hooks: { beforeReply } });
  await agent.run("Go.", { ask: () => "allow" }).result;
  return last.find(({ author }) => author === "tool")?.parts ?? [];
}

test("a screenshot is a part of the answer, beside what else the computer gave", async () => {
  const bytes = Uint8Array.of(1, 2, 3);
  const tool = computerTool({
    width: 1,
    height: 1,
    run: () => ({ screenshot: { bytes }, url: "https://example.com" }),
  });

  expect(await answerOf(tool, { actions: [{ action: "screenshot" }] })).toMatchObject([
    { kind: "tool_result", status: "ok", output: { url: "https://example.com" } },
    { kind: "media", mediaType: "image/png", bytes },
  ]);
});

test("files and images that a tool attaches are parts of its answer, and others fail the call", async () => {
  const bytes = Uint8Array.of(1, 2, 3);
  const attaching = (attachment: ToolAttachment): Tool<string, never, unknown, never> =>
    shellTool({
      run: (_, { attach }) => {
        attach(attachment);
        bytes.fill(9); // what was attached is a copy
        return "ran";
      },
    });
  const commands = { commands: ["ls"] };

  expect(await answerOf(attaching({ mediaType: "text/csv", bytes }), commands)).toMatchObject([
    { kind: "tool_result", status: "ok", text: "ran" },
    { kind: "file", name: "file-1", mediaType: "text/csv", bytes: Uint8Array.of(1, 2, 3) },
  ]);
  expect(await answerOf(attaching({ mediaType: "png", bytes }), commands)).toMatchObject([
    { kind: "tool_result", status: "failed" },
  ]);
});
