import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type {
  ComputerAction,
  McpApprovalInput,
  PatchInput,
  ShellInput,
} from "@millrace/core/model";
import { keyNamed } from "../keys.ts";
import { isSound, listAt, objectAt, textAt } from "../read.ts";
import { objectsField, present } from "./events.ts";

/**
 * The portable input of an item that is a call of one of the vendor's own tools. Undefined for an item
 * that has not what its type promises.
 */
export function nativeInput(item: JsonObject): JsonObject | undefined {
  switch (item["type"]) {
    case "computer_call":
      return computerInput(item);
    case "shell_call":
      return shellInput(objectAt(item, "action"));
    case "local_shell_call":
      return localShellInput(objectAt(item, "action"));
    case "apply_patch_call":
      return patchInput(objectAt(item, "operation"));
    case "mcp_approval_request":
      return approvalInput(item);
    default:
      return undefined;
  }
}

function computerInput(item: JsonObject): JsonObject | undefined {
  const single = objectAt(item, "action");
  const batch = objectsField(item, "actions");
  const given = batch.length > 0 ? batch : single === undefined ? [] : [single];
  const actions = given.map(actionOf);
  if (actions.length === 0 || actions.includes(undefined)) return undefined;
  const checks = objectsField(item, "pending_safety_checks").map((check) =>
    present({
      code: textAt(check, "code"),
      message: textAt(check, "message"),
    }),
  );
  const known = actions.filter((action) => action !== undefined);
  return { actions: known, ...(checks.length === 0 ? {} : { checks }) };
}

const buttons: ReadonlyMap<string, string> = new Map([["wheel", "middle"]]);

function actionOf(given: JsonObject): JsonObject | undefined {
  const { x, y, scroll_x: dx, scroll_y: dy } = given;
  const place = typeof x === "number" && typeof y === "number" ? { x, y } : undefined;
  const held = keysOf(given["keys"]);
  const keys = held.length === 0 ? {} : { keys: held };
  switch (given["type"]) {
    case "screenshot":
      return { action: "screenshot" } satisfies ComputerAction;
    case "wait":
      return { action: "wait" } satisfies ComputerAction;
    case "click": {
      const button = textAt(given, "button") ?? "left";
      return place && { action: "click", ...place, button: buttons.get(button) ?? button, ...keys };
    }
    case "double_click":
      return place && { action: "click", ...place, times: 2, ...keys };
    case "move":
      return place && { action: "move", ...place, ...keys };
    case "drag":
      return { action: "drag", path: pathOf(given), ...keys };
    case "scroll": {
      const isSound = typeof dx === "number" && typeof dy === "number";
      return isSound ? { action: "scroll", ...place, dx, dy, ...keys } : undefined;
    }
    case "type": {
      const text = textAt(given, "text");
      return text === undefined ? undefined : { action: "type", text };
    }
    case "keypress":
      return { action: "key", keys: held };
    default:
      return undefined;
  }
}

function pathOf(given: JsonObject): readonly JsonObject[] {
  return objectsField(given, "path").map(({ x, y }) => present({ x, y }));
}

function keysOf(keys: Json | undefined): readonly string[] {
  const given = Array.isArray(keys) ? (keys as readonly Json[]) : [];
  return given.filter((key) => typeof key === "string").map(keyNamed);
}

/** The commands stand first: they are streamed. */
function shellInput(action: JsonObject | undefined): JsonObject | undefined {
  const commands = textsAt(action, "commands");
  if (action === undefined || commands === undefined) return undefined;
  return present({
    commands,
    timeoutMs: numberAt(action, "timeout_ms"),
    maxOutputLength: numberAt(action, "max_output_length"),
  } satisfies ShellInput);
}

/** The vendor's command is a list of words; ours is a line for a shell, so each word is quoted. */
function localShellInput(action: JsonObject | undefined): JsonObject | undefined {
  const words = textsAt(action, "command");
  if (action === undefined || words === undefined) return undefined;
  const env = Object.entries(objectAt(action, "env") ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return present({
    commands: [words.map(quoted).join(" ")],
    timeoutMs: numberAt(action, "timeout_ms"),
    directory: textAt(action, "working_directory"),
    env: env.length === 0 ? undefined : Object.fromEntries(env),
    user: textAt(action, "user"),
  } satisfies ShellInput);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The diff stands last: it is streamed. */
export function patchInput(operation: JsonObject | undefined): JsonObject | undefined {
  const [type, path, diff] = ["type", "path", "diff"].map((key) => textAt(operation, key));
  if (path === undefined) return undefined;
  if (type === "delete_file") return { type, path } satisfies PatchInput;
  if (type !== "create_file" && type !== "update_file") return undefined;
  return diff === undefined ? undefined : ({ type, path, diff } satisfies PatchInput);
}

function approvalInput(item: JsonObject): JsonObject | undefined {
  const [server, tool] = [textAt(item, "server_label"), textAt(item, "name")];
  if (server === undefined || tool === undefined) return undefined;
  const given = item["arguments"];
  const written = isJsonObject(given) && isSound(given) ? JSON.stringify(given) : given;
  return {
    server,
    tool,
    arguments: typeof written === "string" ? written : "{}",
  } satisfies McpApprovalInput;
}

function textsAt(object: JsonObject | undefined, key: string): readonly string[] | undefined {
  if (!Array.isArray(object?.[key])) return undefined;
  const texts = listAt(object, key).filter((each) => typeof each === "string");
  return texts.length === listAt(object, key).length ? texts : undefined;
}

function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}
