import type { Item, ToolDescription } from "@millrace/core";
import { readOutputTool } from "../tool/read-output.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { Blueprint } from "./host.ts";

/** What a model is told of the agent's tools; with the one that reads back, if something was cut. */
export function offeredTools(agent: Blueprint, trimmed: boolean): readonly ToolDescription[] {
  const own = [...agent.tools.values()];
  const reader = trimmed ? [readOutputTool(() => [])] : [];
  return [...own, ...reader].map(({ name, description, inputSchema }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    input: inputSchema,
  }));
}

/** The agent's tools by name, and the one that reads back what was cut from long results. */
export function toolsByName(
  agent: Blueprint,
  items: () => readonly Item[],
): ReadonlyMap<string, AnyTool> {
  const reader = readOutputTool(items);
  return agent.tools.has(reader.name)
    ? agent.tools
    : new Map([...agent.tools, [reader.name, reader]]);
}
