import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { isBlank } from "../anthropic-messages/events.ts";
import type { Turn } from "../prepare.ts";
import { listAt, objectAt, textAt } from "../read.ts";
import { describeTool } from "../tool-input.ts";

/**
 * The tools of a request: those that it describes, then those of the settings. If there are none, tools
 * that the transcript calls are declared: the vendor refuses a history of calls without any tool.
 */
export function toolFields(
  tools: readonly ToolDescription[],
  settings: JsonObject,
  turns: readonly Turn[],
): JsonObject {
  const own = objectAt(settings, "toolConfig");
  const described = tools.map((tool): JsonObject => {
    const { name, description = "", schema } = describeTool(tool);
    const about = isBlank(description) ? {} : { description };
    return { toolSpec: { name, ...about, inputSchema: { json: schema } } };
  });
  const declared = unique([...described, ...listAt(own, "tools").filter(isJsonObject)]);
  if (declared.length > 0) return { toolConfig: { ...own, tools: declared } };
  const former = formerTools(turns);
  return former.length === 0 ? {} : { toolConfig: { tools: former } };
}

/** The tools without a second one of a name. Other entries, such as cache points, have none. */
function unique(tools: readonly JsonObject[]): readonly JsonObject[] {
  const names = new Set<Json>();
  return tools.filter((tool) => {
    const name = textAt(objectAt(tool, "toolSpec"), "name");
    if (name === undefined) return true;
    return !names.has(name) && names.add(name);
  });
}

function formerTools(turns: readonly Turn[]): readonly JsonObject[] {
  const names = new Set<string>();
  for (const turn of turns) {
    if (turn.role !== "model") continue;
    for (const part of turn.parts) if (part.kind === "tool_call") names.add(part.tool);
  }
  return [...names].map((name) => ({
    toolSpec: { name, inputSchema: { json: { type: "object" } } },
  }));
}
