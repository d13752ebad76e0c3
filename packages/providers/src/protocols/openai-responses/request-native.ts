import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject, ToolCallPart, ToolResultPart } from "@millrace/core";
import { resultText } from "../prepare.ts";
import type { Answer, UserPart } from "../prepare.ts";
import { filledAt, listAt, objectAt, textAt } from "../read.ts";
import { objectsField, present } from "./events.ts";
import { nativeItems } from "./native-tool.ts";
import { inputContent } from "./request-content.ts";

/** A call of one of the vendor's own tools with its answer, as the vendor's items. */
export interface NativeExchange {
  readonly item: JsonObject;
  readonly output: JsonObject;
  /** What the output can't hold, as the content of a message. */
  readonly beside: readonly JsonObject[];
}

/** The model that is asked, and the names of the vendor's own tools that it is offered. */
interface NativePlace {
  readonly model: string;
  readonly offered: { readonly has: (name: string) => boolean };
}

/**
 * The vendor's own items for a call and its answer. Undefined if it can't be sent that way: the tool is
 * no longer offered, or the answer has not what the vendor requires. Then both are sent as those of a
 * function.
 */
export function nativeExchange(
  call: ToolCallPart,
  answer: Answer | undefined,
  { model, offered }: NativePlace,
): NativeExchange | undefined {
  const opaque = isJsonObject(call.opaque) ? call.opaque : undefined;
  const kept = objectAt(opaque, "item");
  const type = filledAt(kept, "type") ?? "";
  const name = nativeItems.get(type);
  if (kept === undefined || name === undefined || !offered.has(name)) return undefined;
  if ("omitted" in kept || call.input === undefined || answer === undefined) return undefined;
  const { callId } = call;
  const { result, parts } = answer;
  const item = { ...kept, call_id: callId };
  const text = resultText(result);
  const beside = inputContent(parts, model);
  switch (type) {
    case "computer_call":
      return computerExchange(item, answer, model);
    case "shell_call": {
      const action = objectAt(kept, "action");
      const length = present({ max_output_length: action?.["max_output_length"] });
      const output = { type: "shell_call_output", call_id: callId, output: shellOutput(result) };
      return { item, output: { ...output, ...length }, beside };
    }
    case "local_shell_call": {
      // The vendor's field for the call's id is `id` here.
      return {
        item,
        output: { type: "local_shell_call_output", id: callId, output: text },
        beside,
      };
    }
    case "apply_patch_call": {
      const status = result.status === "ok" ? "completed" : "failed";
      const output = { type: "apply_patch_call_output", call_id: callId, status, output: text };
      return { item: { ...item, operation: call.input }, output, beside };
    }
    case "mcp_approval_request": {
      const approve = result.status === "ok";
      const response = { type: "mcp_approval_response", approval_request_id: kept["id"] ?? null };
      return { item: kept, output: { ...response, approve, reason: text }, beside };
    }
    default:
      return undefined;
  }
}

/**
 * The vendor takes a screenshot as the answer and nothing else, so a call that was denied or failed has
 * none that it takes. Checks are acknowledged only by a call that ran, which it does after a person
 * has seen them.
 */
function computerExchange(
  item: JsonObject,
  { result, parts }: Answer,
  model: string,
): NativeExchange | undefined {
  const at = result.status === "ok" ? parts.findLastIndex(isPicture) : -1;
  const content = at < 0 ? [] : inputContent(parts.slice(at, at + 1), model);
  const address = textAt(content.at(-1), "image_url");
  if (address === undefined) return undefined;
  const checks = objectsField(item, "pending_safety_checks");
  const output = {
    type: "computer_call_output",
    call_id: item["call_id"] ?? null,
    output: { type: "computer_screenshot", image_url: address },
    ...(checks.length === 0 ? {} : { acknowledged_safety_checks: checks }),
  };
  const words = hasWords(result) ? [{ type: "input_text", text: resultText(result) }] : [];
  return { item, output, beside: [...words, ...inputContent(parts.toSpliced(at, 1), model)] };
}

function isPicture(part: UserPart): boolean {
  return part.kind === "media" && part.mediaType.startsWith("image/");
}

function hasWords({ text, output }: ToolResultPart): boolean {
  return text !== "" || output !== undefined;
}

/** The output of commands: as the tool gave it, or its text as that of one command. */
function shellOutput(result: ToolResultPart): readonly JsonObject[] {
  const given = isJsonObject(result.output) ? listAt(result.output, "outputs") : [];
  const read = given.map(commandOutput);
  const whole = JSON.stringify(result.output ?? null) === result.text;
  // A text that was trimmed for the request is what the model is to get.
  if (whole && read.length > 0 && !read.includes(undefined)) {
    return read.filter((each) => each !== undefined);
  }
  const text = resultText(result);
  const isOk = result.status === "ok";
  return [
    {
      stdout: isOk ? text : "",
      stderr: isOk ? "" : text,
      outcome: { type: "exit", exit_code: isOk ? 0 : 1 },
    },
  ];
}

function commandOutput(given: Json): JsonObject | undefined {
  if (!isJsonObject(given)) return undefined;
  const { stdout, stderr, exit } = given;
  if (typeof stdout !== "string" || typeof stderr !== "string") return undefined;
  if (exit === "timeout") return { stdout, stderr, outcome: { type: "timeout" } };
  if (typeof exit !== "number") return undefined;
  return { stdout, stderr, outcome: { type: "exit", exit_code: exit } };
}
