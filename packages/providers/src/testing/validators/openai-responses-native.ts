import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import {
  checkAddress,
  checkList,
  checkOneOf,
  checkShape,
  checkText,
  shape,
  word,
} from "./check.ts";
import type { Shape, Violations } from "./check.ts";

/** The answer that a call of the vendor's own tools waits for. */
export interface Awaited {
  readonly key: string;
  readonly output: string;
}

/** The answer that an item waits for, if it is a call that the caller runs. */
export function awaitedBy(item: JsonObject): Awaited | undefined {
  const kind = word(item["type"]);
  if (kind === "mcp_approval_request") {
    return { key: word(item["id"]), output: "mcp_approval_response" };
  }
  const environment = item["environment"];
  const place = isJsonObject(environment) ? environment["type"] : "local";
  const isOurs =
    kind === "computer_call" ||
    kind === "local_shell_call" ||
    kind === "apply_patch_call" ||
    (kind === "shell_call" && place === "local");
  return isOurs ? { key: word(item["call_id"]), output: `${kind}_output` } : undefined;
}

/** The key of the call that an item answers, if it is an answer of the caller. */
export function answeredBy(item: JsonObject): string | undefined {
  switch (item["type"]) {
    case "computer_call_output":
    case "apply_patch_call_output":
    case "shell_call_output":
      return word(item["call_id"]);
    case "local_shell_call_output":
      return word(item["id"]);
    case "mcp_approval_response":
      return word(item["approval_request_id"]);
    default:
      return undefined;
  }
}

/** Checks what the items of the vendor's own tools hold, beside the names of their fields. */
export function checkNative(found: Violations, item: JsonObject, path: string): void {
  switch (item["type"]) {
    case "computer_call": {
      const { action, actions } = item as Record<string, Json | undefined>;
      const list = Array.isArray(actions) ? (actions as readonly Json[]) : [action ?? null];
      for (const [at, each] of list.entries()) {
        const known = isJsonObject(each) ? actionShapes[word(each["type"])] : undefined;
        if (known === undefined) found.add(`${path}.actions[${at}].type`, "unknown");
        else checkShape(found, each, `${path}.actions[${at}]`, known);
      }
      return;
    }
    case "computer_call_output": {
      const output = item["output"];
      if (!checkShape(found, output, `${path}.output`, screenshotShape)) return;
      checkOneOf(found, output["type"], `${path}.output.type`, ["computer_screenshot"]);
      checkAddress(found, output["image_url"], `${path}.output.image_url`, imageTypes);
      return;
    }
    case "shell_call":
      checkShape(found, item["action"], `${path}.action`, shellShape);
      return;
    case "shell_call_output": {
      if (!checkList(found, item["output"], `${path}.output`)) return;
      for (const [at, each] of item["output"].entries()) {
        checkShellOutput(found, each, `${path}.output[${at}]`);
      }
      return;
    }
    case "local_shell_call_output":
      checkText(found, item["output"], `${path}.output`);
      return;
    case "apply_patch_call": {
      const operation = item["operation"];
      const kind = isJsonObject(operation) ? word(operation["type"]) : "";
      const known = kind === "delete_file" ? deletionShape : patchShape;
      if (!checkShape(found, operation, `${path}.operation`, known)) return;
      const kinds = ["create_file", "update_file", "delete_file"];
      checkOneOf(found, kind, `${path}.operation.type`, kinds);
      return;
    }
    case "apply_patch_call_output":
      checkOneOf(found, item["status"], `${path}.status`, ["completed", "failed"]);
      return;
    case "mcp_approval_response":
      if (typeof item["approve"] !== "boolean") found.add(`${path}.approve`, "not a boolean");
      return;
    default:
  }
}

/** Checks of safety that are pending are acknowledged by the answer, or the vendor goes no further. */
export function checkAcknowledged(
  found: Violations,
  call: JsonObject | undefined,
  output: JsonObject,
  path: string,
): void {
  const idsIn = (from: JsonObject | undefined, key: string): readonly Json[] => {
    const list = from?.[key];
    if (!Array.isArray(list)) return [];
    return (list as readonly Json[]).map((each) =>
      isJsonObject(each) ? (each["id"] ?? null) : null,
    );
  };
  const given = idsIn(output, "acknowledged_safety_checks");
  const pending = idsIn(call, "pending_safety_checks");
  if (!pending.every((id) => given.includes(id))) found.add(path, "a safety check is pending");
}

function checkShellOutput(found: Violations, output: Json, path: string): void {
  if (!checkShape(found, output, path, commandShape)) return;
  checkText(found, output["stdout"], `${path}.stdout`, { empty: "allowed" });
  checkText(found, output["stderr"], `${path}.stderr`, { empty: "allowed" });
  const outcome = output["outcome"];
  const kind = isJsonObject(outcome) ? word(outcome["type"]) : "";
  const known = kind === "exit" ? exitShape : shape("type");
  if (!checkShape(found, outcome, `${path}.outcome`, known)) return;
  checkOneOf(found, kind, `${path}.outcome.type`, ["exit", "timeout"]);
}

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const screenshotShape = shape("type", "image_url file_id");
const shellShape = shape("commands", "timeout_ms max_output_length");
const commandShape = shape("stdout stderr outcome");
const exitShape = shape("type exit_code");
const patchShape = shape("type path diff");
const deletionShape = shape("type path");
const actionShapes: Readonly<Record<string, Shape>> = {
  click: shape("type button x y", "keys"),
  double_click: shape("type x y keys"),
  drag: shape("type path", "keys"),
  keypress: shape("type keys"),
  move: shape("type x y", "keys"),
  screenshot: shape("type"),
  scroll: shape("type x y scroll_x scroll_y", "keys"),
  type: shape("type text"),
  wait: shape("type"),
};

/** The declarations of the vendor's own tools that the caller runs. */
export const nativeToolShapes: Readonly<Record<string, Shape>> = {
  computer: shape("type"),
  computer_use_preview: shape("type display_width display_height environment"),
  shell: shape("type", "environment allowed_callers"),
  local_shell: shape("type"),
  apply_patch: shape("type", "allowed_callers"),
};
