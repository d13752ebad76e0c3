import type { Item } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { defaultOutputBytes, trimOutputs } from "../context/outputs.ts";
import { readOutputTool } from "../tool/read-output.ts";
import type { AnyTool } from "../definition/tool.ts";
import type { Blueprint } from "../definition/blueprint.ts";

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

/** The bytes of each tool's output that the model is given; the rest it can read back. */
export function outputBytesOf({ tools }: Blueprint): (tool: string) => number {
  return (tool) => tools.get(tool)?.limits.outputBytes ?? defaultOutputBytes;
}

/**
 * The tools that a model may call, by name: those that it was offered in this turn. If that is not
 * known any more, since another process asked it, the agent's own, and the one that reads back if
 * there is something to read back.
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
  const session = items();
  const whole = trimOutputs(session, { session, outputBytes: outputBytesOf(agent) }) === session;
  return whole ? own : all;
}
