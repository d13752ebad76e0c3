import type { JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { validateOpenaiResponses } from "./openai-responses.ts";

const asked = { type: "message", role: "user", content: "Go." };
const click = {
  type: "computer_call",
  id: "cu_1",
  call_id: "c1",
  status: "completed",
  action: { type: "screenshot" },
  pending_safety_checks: [{ id: "sc_1" }],
};
const seen = {
  type: "computer_call_output",
  call_id: "c1",
  output: { type: "computer_screenshot", image_url: "https://example.com/a.png" },
  acknowledged_safety_checks: [{ id: "sc_1" }],
};
const shell = { type: "shell_call", id: "sh_1", call_id: "c1", action: { commands: ["ls"] } };
const ran = {
  type: "shell_call_output",
  call_id: "c1",
  output: [{ stdout: "", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
};
const local = {
  type: "local_shell_call",
  id: "lsh_1",
  call_id: "c1",
  status: "completed",
  action: { type: "exec", command: ["ls"], env: {} },
};
const patch = {
  type: "apply_patch_call",
  id: "apc_1",
  call_id: "c1",
  status: "completed",
  operation: { type: "delete_file", path: "a" },
};
const patched = { type: "apply_patch_call_output", call_id: "c1", status: "completed" };
const request = {
  type: "mcp_approval_request",
  id: "mcpr_1",
  arguments: "{}",
  name: "a",
  server_label: "b",
};
const response = { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true };

function faultsOf(...items: readonly JsonObject[]): readonly string[] {
  return validateOpenaiResponses({ model: "gpt-5.4", store: false, input: [asked, ...items] });
}

describe("the vendor's own tools in a request", () => {
  test.each<[string, readonly JsonObject[]]>([
    ["computer", [click, seen]],
    ["shell", [shell, ran]],
    ["local shell", [local, { type: "local_shell_call_output", id: "c1", output: "{}" }]],
    ["patch", [patch, patched]],
    ["approval", [request, response]],
  ])("a call of a %s with its answer is taken", (_, items) => {
    expect(faultsOf(...items)).toEqual([]);
  });

  test.each<[string, readonly JsonObject[], string]>([
    ["a call without an answer", [shell, asked], "no output before it for c1"],
    ["an answer without a call", [patched], "no open call c1"],
    ["an answer of another kind", [shell, patched], "no open call c1"],
    ["an approval that is not answered", [request, asked], "no output before it for mcpr_1"],
    ["an answer to no approval", [response], "no open call mcpr_1"],
    [
      "a safety check that is not acknowledged",
      [click, { ...seen, acknowledged_safety_checks: [] }],
      "a safety check is pending",
    ],
    ["an unknown action", [{ ...click, action: { type: "teleport" } }, seen], "unknown"],
    [
      "a screenshot that is none",
      [click, { ...seen, output: { type: "text", image_url: "https://example.com/a.png" } }],
      "$.input[2].output.type",
    ],
    [
      "an outcome without a code",
      [shell, { ...ran, output: [{ stdout: "", stderr: "", outcome: { type: "exit" } }] }],
      "exit_code",
    ],
    ["a status that is none", [patch, { ...patched, status: "ok" }], "$.input[2].status"],
    [
      "a diff of a deletion",
      [{ ...patch, operation: { type: "delete_file", path: "a", diff: "" } }, patched],
      "diff",
    ],
    ["an approval that is no boolean", [request, { ...response, approve: "yes" }], "not a boolean"],
  ])("%s is found", (_, items, fault) => {
    expect(faultsOf(...items).join("\n")).toContain(fault);
  });

  test("a field that a declaration does not have is found", () => {
    const body = {
      model: "gpt-5.4",
      store: false,
      input: [asked],
      tools: [{ type: "computer", width: 1 }],
    };

    expect(validateOpenaiResponses(body).join("\n")).toContain("width");
  });
});
