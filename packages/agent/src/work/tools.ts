import type { Item, ToolResultPart } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { defaultOutputBytes, readOutputName, trimOutputs } from "../context/outputs.ts";
import { readOutputTool } from "../tool/read-output.ts";
import type { AnyTool } from "../definition/tool.ts";
import type { Journal } from "./host.ts";
import type { Blueprint } from "../definition/blueprint.ts";

/**
 * The tools of a request. An agent with tools offers the one that reads back outputs from the first
 * request on: a vendor's cache and what a model thought hold only as long as the tools stay.
 */
export function offeredTools(agent: Blueprint): readonly ToolDescription[] {
  const own = [...agent.tools.values()];
  const isNamed = own.length === 0 || agent.tools.has(readOutputName);
  const reader = isNamed ? [] : [readOutputTool(() => [])];
  return [...own, ...reader].map(({ name, description, inputSchema, vendor }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    input: inputSchema,
    ...(vendor === undefined ? {} : { vendor }),
  }));
}

/**
 * The items whose results a model can read back: all that this process has. In a session that was opened
 * from a checkpoint those are the items that requests still need.
 */
export function readableItems({
  state,
  context,
}: Pick<Journal, "state" | "context">): readonly Item[] {
  return (state.earlier === undefined ? state.items : context.items).toArray();
}

/** How many bytes of each tool's output are in a request. The model can read back the rest. */
export function outputBytesOf({ tools }: Blueprint): (tool: string) => number {
  return (tool) => tools.get(tool)?.limits.outputBytes ?? defaultOutputBytes;
}

/**
 * The tools that a model may call, by name: those offered in this turn. If another process sent the
 * request, `offered` is unknown; then the agent's own tools, and the one that reads back outputs if the
 * agent has tools or an output is long enough to be trimmed.
 */
export function toolsByName(
  agent: Blueprint,
  items: () => readonly Item[],
  offered: ReadonlySet<string> | undefined,
): ReadonlyMap<string, AnyTool> {
  const reader = readOutputTool(items);
  const own = agent.tools;
  const all = own.has(reader.name) ? own : new Map([...own, [reader.name, reader]]);
  if (offered !== undefined) return new Map([...all].filter(([name]) => offered.has(name)));
  if (own.size > 0) return all;
  const session = items();
  const outputBytes = ({ tool }: ToolResultPart): number => outputBytesOf(agent)(tool);
  const whole = trimOutputs(session, { session, outputBytes }) === session;
  return whole ? own : all;
}
