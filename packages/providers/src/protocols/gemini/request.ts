import type { Json, JsonObject } from "@millrace/core";
import type { ModelRequest, ToolDescription } from "@millrace/core/ports";
import type { NativeTool, RequestTarget, WireRequest } from "../../protocol.ts";
import { byCallName, nativeToolsOf, refuseChoice } from "../native-tools.ts";
import { askFor } from "../output.ts";
import { prepare } from "../prepare.ts";
import { listAt, objectAt } from "../read.ts";
import { applySettings } from "../settings.ts";
import { describeTool } from "../tool-input.ts";
import { contentsOf, tokenIn, tokenOf } from "./contents.ts";
import type { Rules } from "./contents.ts";
import { nativeTool } from "./native-tool.ts";
import { outputFields } from "./output.ts";
import { geminiSettings } from "./settings.ts";

export const protocolId = "gemini";

/** Builds the request for a transcript. Streaming is part of the path; usage needs no setting. */
export function request(modelRequest: ModelRequest, { model }: RequestTarget): WireRequest {
  const { tools = [] } = modelRequest;
  const { fields: settings } = applySettings(geminiSettings, modelRequest, model);
  // A paused reply is resumed by its token. Without one, a user turn has to ask for more.
  const turns = prepare(modelRequest, `${protocolId}/${model}`, {
    goesOn: (parts) => tokenIn(parts) !== undefined,
    keeps: (_, turn) => turn.native,
  });
  const token = tokenOf(turns);
  const native = nativeToolsOf(tools, { nativeTool }, model);
  const { toolChoice } = modelRequest.settings ?? {};
  if (typeof toolChoice === "object" && toolChoice !== null && "tool" in toolChoice) {
    const { tool } = toolChoice;
    if (typeof tool === "string" && native.has(tool)) throw refuseChoice("Gemini", tool);
  }
  const contents = contentsOf(turns, { ...rulesOf(model), offered: byCallName(native) });
  const fields: JsonObject = { ...settings, ...toolsOf(tools, settings["tools"], native) };
  const { instructions = "", fields: format } = askFor(modelRequest, (output) =>
    outputFields(output, fields, model),
  );
  return {
    path: `/${pathOf(model)}:streamGenerateContent?alt=sse`,
    body: {
      ...fields,
      ...format,
      contents: contents.map(({ from, parts }) => ({
        role: from === "model" ? "model" : "user",
        parts,
      })),
      ...systemOf(instructions, settings),
      ...(token === undefined ? {} : { continuationToken: token }),
    },
  };
}

/** A bare name is one of the vendor's models. Other names contain their path. */
function pathOf(model: string): string {
  const path = model.includes("/") ? model : `models/${model}`;
  return path.split("/").map(encodeURIComponent).join("/");
}

/** The request's instructions, then those of the settings. */
function systemOf(instructions: string, settings: JsonObject): JsonObject {
  if (instructions.trim() === "") return {};
  const more = listAt(objectAt(settings, "systemInstruction"), "parts");
  return { systemInstruction: { parts: [{ text: instructions }, ...more] } };
}

/** From the third generation on. A name without a number refers to the newest model. */
function rulesOf(model: string): Omit<Rules, "offered"> {
  const isNew = /(?:^|\/)gemini-(?![12](?:[.-]|$))/.test(model);
  // The one model of the second generation whose results have screenshots.
  const seesResults = /(?:^|\/)gemini-2\.5-computer-use/.test(model);
  return { signed: isNew, picturesInResults: isNew || seesResults, levels: isNew };
}

/**
 * The request's tools, and those of the settings that the vendor runs. Each name is declared once.
 */
function toolsOf(
  tools: readonly ToolDescription[],
  others: Json | undefined,
  native: ReadonlyMap<string, NativeTool>,
): JsonObject {
  const byName = new Map<string, ToolDescription>();
  for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
  if (byName.size === 0) return {};
  const own = [...native.values()].flatMap((tool) => tool.declaration ?? []);
  const functions = [...byName.values()].filter(({ name }) => !native.has(name)).map(declaration);
  const declared = functions.length === 0 ? [] : [{ functionDeclarations: functions }];
  const given = Array.isArray(others) ? (others as readonly Json[]) : [];
  return { tools: [...given, ...own, ...declared] };
}

function declaration(tool: ToolDescription): JsonObject {
  const { name, description, schema: given } = describeTool(tool, notAtTheTop);
  const { $schema: _, ...schema } = given;
  return {
    name,
    // The vendor requires a description.
    description: description === undefined || description === "" ? name : description,
    parametersJsonSchema: schema,
  };
}

/** The vendor takes `anyOf` and `oneOf` at the top. Other keywords it ignores. */
const notAtTheTop = ["allOf", "not", "enum"];
