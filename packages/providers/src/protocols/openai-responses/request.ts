import type { Json, JsonObject } from "@millrace/core";
import type { RequestUpdate } from "@millrace/core/model";
import type { ModelRequest, ToolDescription } from "@millrace/core/ports";
import type { NativeTool, RequestTarget, WireRequest } from "../../protocol.ts";
import { byCallName, nativeToolsOf, refuseChoice } from "../native-tools.ts";
import { askFor, openaiFormat } from "../output.ts";
import { prepareWithUpdates } from "../prepare.ts";
import type { Answer, Turn, UpdateTurn } from "../prepare.ts";
import { filledAt, objectAt } from "../read.ts";
import { applySettings } from "../settings.ts";
import { describeTool, withProperties } from "../tool-input.ts";
import { objectsField } from "./events.ts";
import { nativeTool } from "./native-tool.ts";
import { inputContent, outputOf } from "./request-content.ts";
import { keepsMedia, modelItems } from "./request-turn.ts";
import type { Replay } from "./request-turn.ts";
import { openaiResponsesSettings } from "./settings.ts";

/**
 * Builds the request for a transcript. Sends all of it and never relies on the vendor's storage.
 */
export function request(modelRequest: ModelRequest, target: RequestTarget): WireRequest {
  const { tools = [] } = modelRequest;
  const { fields: own } = applySettings(openaiResponsesSettings, modelRequest, target.model);
  const native = nativeToolsOf(tools, { nativeTool }, target.model);
  const turns = prepareWithUpdates(modelRequest, `openai-responses/${target.model}`, {
    keeps: keepsMedia,
  });
  const replay: Replay = {
    model: target.model,
    stored: own["store"] === true,
    used: new Set(),
    customCalls: new Set(),
    offered: byCallName(native),
    answers: new Map(turns.flatMap(answersOf)),
    natives: new Map(),
  };
  const declared = declaredTools(tools, own, native);
  const text = objectAt(own, "text");
  const words = instructionsOf(modelRequest, own);
  const { instructions, fields } = askFor({ ...modelRequest, instructions: words }, (output) => {
    const shape = text?.["format"] === undefined ? openaiFormat(output, target.model) : undefined;
    return shape && { text: { ...text, format: { type: "json_schema", ...shape } } };
  });
  return {
    path: "/responses",
    body: {
      store: false,
      ...truncationOf(declared),
      ...own,
      ...choiceFields(own, native),
      ...includeOf(own["include"], target.model),
      ...fields,
      model: target.model,
      stream: true,
      input: turns.flatMap((turn) => itemsOf(turn, replay)),
      ...(instructions === undefined ? {} : { instructions }),
      ...(declared.length === 0 ? {} : { tools: declared }),
    },
  };
}

/** The request's instructions, else those of the settings. Empty ones count as none. */
function instructionsOf(
  { instructions = "" }: ModelRequest,
  settings: JsonObject,
): string | undefined {
  return instructions === "" ? filledAt(settings, "instructions") : instructions;
}

function itemsOf(turn: Turn | UpdateTurn, replay: Replay): readonly JsonObject[] {
  switch (turn.role) {
    case "user":
      return [{ type: "message", role: "user", content: inputContent(turn.parts, replay.model) }];
    case "model":
      return modelItems(turn, replay);
    case "tool":
      return answerItems(turn.answers, replay);
    case "update":
      return updateItems(turn.update);
    default:
      turn satisfies never;
      return [];
  }
}

/** New words of the developer, and tools that are added. The API removes none, so words say so. */
function updateItems(update: RequestUpdate): readonly JsonObject[] {
  const { text, notes, added = [], removed = [] } = update;
  const gone =
    removed.length === 0
      ? undefined
      : `These tools are no longer available: ${removed.join(", ")}.`;
  const words = [text, gone, notes].filter((each) => each !== undefined).join("\n\n");
  const content = [{ type: "input_text", text: words.toWellFormed() }];
  return [
    ...(words === "" ? [] : [{ type: "message", role: "developer", content }]),
    ...(added.length === 0
      ? []
      : [{ type: "additional_tools", role: "developer", tools: added.map(functionTool) }]),
  ];
}

function answersOf(turn: Turn | UpdateTurn): readonly (readonly [string, Answer])[] {
  if (turn.role !== "tool") return [];
  return turn.answers.map((answer) => [answer.result.callId, answer]);
}

/** The outputs of all calls, then what the vendor's own outputs can't hold. */
function answerItems(answers: readonly Answer[], replay: Replay): readonly JsonObject[] {
  const beside: JsonObject[] = [];
  const outputs = answers.map((answer): JsonObject => {
    const call_id = answer.result.callId;
    const native = replay.natives.get(call_id);
    if (native !== undefined) {
      beside.push(...native.beside);
      return native.output;
    }
    const custom = replay.customCalls.has(call_id);
    const type = custom ? "custom_tool_call_output" : "function_call_output";
    return { type, call_id, output: outputOf(answer, replay.model) };
  });
  if (beside.length === 0) return outputs;
  return [...outputs, { type: "message", role: "user", content: beside }];
}

/** The vendor's own tools are chosen by their types. */
const chosenByType = ["computer", "computer_use_preview", "shell", "apply_patch"];

/** The choice of a tool, if it is one of the vendor's own: such a tool has no name. */
function choiceFields(own: JsonObject, native: ReadonlyMap<string, NativeTool>): JsonObject {
  const choice = objectAt(own, "tool_choice");
  const name = choice?.["type"] === "function" ? (filledAt(choice, "name") ?? "") : "";
  const tool = native.get(name);
  if (tool === undefined) return {};
  const type = filledAt(tool.declaration, "type") ?? "";
  if (!chosenByType.includes(type)) throw refuseChoice("OpenAI's Responses API", name);
  return { tool_choice: { type } };
}

/** The vendor requires it for the first of its computer tools. */
function truncationOf(declared: readonly JsonObject[]): JsonObject {
  const isPreview = declared.some(({ type }) => type === "computer_use_preview");
  return isPreview ? { truncation: "auto" } : {};
}

/** The settings' `include` and the reasoning that a later request sends back. Null means neither. */
function includeOf(given: Json | undefined, model: string): JsonObject {
  if (isPlainModel(model) || given === null) return {};
  const asked = Array.isArray(given) ? (given as readonly Json[]) : [];
  return { include: [...new Set(["reasoning.encrypted_content", ...asked])] };
}

/** True for models without reasoning, which refuse a request for encrypted reasoning. */
function isPlainModel(model: string): boolean {
  return /^(?:.*\/)?(?:ft:)?(?:gpt-3|gpt-4|chatgpt-|gpt-5[^/]*-chat)/.test(model);
}

/**
 * The request's tools, then those of the settings, such as the vendor's own. Each name is declared
 * once.
 */
function declaredTools(
  tools: readonly ToolDescription[],
  settings: JsonObject,
  native: ReadonlyMap<string, NativeTool>,
): readonly JsonObject[] {
  const names = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
  const others = objectsField(settings, "tools").filter(({ name }) => {
    return typeof name !== "string" || !names.has(name);
  });
  const own = tools.filter((tool) => names.get(tool.name) === tool);
  const described = own.flatMap((tool): readonly JsonObject[] => {
    const vendors = native.get(tool.name);
    if (vendors === undefined) return [functionTool(tool)];
    return vendors.declaration === undefined ? [] : [vendors.declaration];
  });
  return [...described, ...others];
}

function functionTool(tool: ToolDescription): JsonObject {
  const { name, description, schema } = describeTool(tool);
  return {
    type: "function",
    name,
    ...(description === undefined ? {} : { description }),
    parameters: withProperties(schema),
    // Strict mode takes a small part of JSON Schema, and the loop validates arguments itself.
    strict: false,
  };
}
