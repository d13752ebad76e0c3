import { isJsonObject } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";
import type { ModelRequest, ToolDescription } from "@millrace/core/ports";
import type { RequestTarget, WireRequest } from "../../protocol.ts";
import { askFor, openAiFormat, refusedAtTop } from "../output.ts";
import { prepare } from "../prepare.ts";
import type { Turn } from "../prepare.ts";
import { filledAt, objectAt } from "../read.ts";
import { objectsField } from "./events.ts";
import { inputContent, outputOf } from "./request-content.ts";
import { modelItems } from "./request-turn.ts";
import type { Replay } from "./request-turn.ts";

/** The request for a transcript. All of it is sent: nothing rests on what the vendor remembers. */
export function request(asked: ModelRequest, target: RequestTarget): WireRequest {
  const { transcript, tools = [], settings = {} } = asked;
  // With either of these the vendor would put its own copy of the conversation before ours.
  const { previous_response_id: _, conversation: __, ...own } = settings;
  const turns = prepare(transcript, `openai-responses/${target.model}`);
  const replay: Replay = {
    stored: own["store"] === true,
    used: new Set(),
    customCalls: new Set(),
  };
  const declared = declaredTools(tools, own);
  const text = objectAt(own, "text");
  const words = instructionsOf(asked);
  const { instructions, fields } = askFor({ ...asked, instructions: words }, (output) => {
    const shape = text?.["format"] === undefined ? openAiFormat(output, target.model) : undefined;
    return shape && { text: { ...text, format: { type: "json_schema", ...shape } } };
  });
  return {
    path: "/responses",
    body: {
      store: false,
      ...(isPlainModel(target.model) ? {} : { include: ["reasoning.encrypted_content"] }),
      ...own,
      ...fields,
      model: target.model,
      stream: true,
      input: turns.flatMap((turn) => itemsOf(turn, replay)),
      ...(instructions === undefined ? {} : { instructions }),
      ...(declared.length === 0 ? {} : { tools: declared }),
    },
  };
}

/** Ours, or else those of the settings. Empty ones are none. */
function instructionsOf({ instructions = "", settings }: ModelRequest): string | undefined {
  return instructions === "" ? filledAt(settings, "instructions") : instructions;
}

function itemsOf(turn: Turn, replay: Replay): readonly JsonObject[] {
  switch (turn.role) {
    case "user":
      return [{ type: "message", role: "user", content: inputContent(turn.parts) }];
    case "model":
      return modelItems(turn, replay);
    case "tool":
      return turn.answers.map((answer) => {
        const call_id = answer.result.callId;
        const custom = replay.customCalls.has(call_id);
        const type = custom ? "custom_tool_call_output" : "function_call_output";
        return { type, call_id, output: outputOf(answer) };
      });
    default:
      turn satisfies never;
      return [];
  }
}

/** Models that don't reason refuse to be asked for encrypted reasoning. */
function isPlainModel(model: string): boolean {
  return /^(?:.*\/)?(?:ft:)?(?:gpt-3|gpt-4|chatgpt-|gpt-5[^/]*-chat)/.test(model);
}

/** Our tools, then those that the settings name, such as the vendor's own. A name is declared once. */
function declaredTools(
  tools: readonly ToolDescription[],
  settings: JsonObject,
): readonly JsonObject[] {
  const names = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
  const others = objectsField(settings, "tools").filter(({ name }) => {
    return typeof name !== "string" || !names.has(name);
  });
  const own = tools.filter((tool) => names.get(tool.name) === tool);
  return [...own.map(functionTool), ...others];
}

function functionTool({ name, description, input }: ToolDescription): JsonObject {
  return {
    type: "function",
    name,
    ...(description === undefined ? {} : { description }),
    parameters: parametersOf(input),
    // Strict schemas are a small part of JSON Schema, and we check arguments ourselves.
    strict: false,
  };
}

/** The schema as an object's, which is the only one that the vendor takes. The tool still checks the rest. */
function parametersOf(input: Json): JsonObject {
  const schema = isJsonObject(input) ? input : {};
  const isObject = schema["type"] === undefined || schema["type"] === "object";
  const kept = Object.entries(isObject ? schema : {}).filter(
    ([key]) => !refusedAtTop.includes(key),
  );
  const properties = schema["properties"];
  return {
    ...Object.fromEntries(kept),
    type: "object",
    properties: isObject && isJsonObject(properties) ? properties : {},
  };
}
