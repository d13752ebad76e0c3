import type { JsonObject } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { describeTool, withProperties } from "../tool-input.ts";

/**
 * Converts tools to functions. The vendor refuses duplicate names, so the first of each is sent.
 */
export function toolsOf(tools: readonly ToolDescription[]): readonly JsonObject[] {
  const names = new Set<string>();
  return tools.flatMap((tool) => {
    if (names.has(tool.name)) return [];
    names.add(tool.name);
    const { name, description = "", schema } = describeTool(tool);
    const parameters = withProperties(schema);
    const body = { name, ...(description === "" ? {} : { description }), parameters };
    return [{ type: "function", function: body }];
  });
}
