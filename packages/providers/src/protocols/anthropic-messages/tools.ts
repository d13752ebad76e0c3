import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import type { Turn, UpdateTurn } from "../prepare.ts";
import { listAt, textAt } from "../read.ts";
import type { NativeTool } from "../../protocol.ts";
import { describeTool } from "../tool-input.ts";
import { isBlank } from "./events.ts";

/** The tools of a request: those that it describes, then those of the settings. */
export function toolsOf(
  tools: readonly ToolDescription[],
  settings: JsonObject,
  native: ReadonlyMap<string, NativeTool>,
): readonly JsonObject[] {
  const names = new Set<string>();
  const described = tools.map(
    (tool): JsonObject => native.get(tool.name)?.declaration ?? functionTool(tool),
  );
  const own = listAt(settings, "tools").filter(isJsonObject);
  return [...described, ...own].filter((tool) => {
    const name = textAt(tool, "name");
    if (name === undefined) return true; // a toolset has no name of its own
    if (names.has(name)) return false;
    names.add(name);
    return true;
  });
}

/** A tool as the vendor is given it, in the list of tools or where it is added later. */
export function functionTool(tool: ToolDescription): JsonObject {
  const { name, description = "", schema } = describeTool(tool);
  return { name, ...(isBlank(description) ? {} : { description }), input_schema: schema };
}

/**
 * Declares tools that the transcript calls and the request no longer has. The vendor refuses a
 * history of calls without any tool.
 */
export function formerTools(turns: readonly (Turn | UpdateTurn)[]): readonly JsonObject[] {
  const names = new Set<string>();
  for (const turn of turns) {
    if (turn.role !== "model") continue;
    for (const part of turn.parts) if (part.kind === "tool_call") names.add(part.tool);
  }
  return [...names].map((name) => ({ name, input_schema: { type: "object" } }));
}

/** The names that a tool search may refer to, or undefined if a toolset may add more. */
export function declaredNames(tools: readonly JsonObject[]): ReadonlySet<string> | undefined {
  const names = tools.map((tool) => textAt(tool, "name"));
  return names.includes(undefined)
    ? undefined
    : new Set(names.filter((name) => name !== undefined));
}
