import type { ToolLabel } from "../definition/labels.ts";
import type { LoopSettings } from "../definition/loop-settings.ts";
import type { CallStanding, LoopState } from "./state.ts";

/** How many labels there are. */
const allLabels = 3;

/**
 * True if the tool of a call has a label and the session has all three with it: by the tools whose results
 * the transcript holds, and by the calls of the same reply, which may run beside it. It follows from facts
 * and settings alone, and stays true for a call, so every driver asks the same.
 */
export function completesLabels({ settings, standing }: LoopState, call: CallStanding): boolean {
  if (settings.allLabels === "allow" || !labelsOf(settings, call.tool)?.length) return false;
  const ran = standing.ran.map((tool) => labelsOf(settings, tool));
  // A tool that the agent no longer has may have had any label. One that it never had is refused.
  if (ran.includes(undefined)) return true;
  const beside = (standing.run?.turn?.reply?.calls ?? []).map(({ tool }) =>
    labelsOf(settings, tool),
  );
  return new Set([...ran, ...beside].flatMap((labels) => labels ?? [])).size === allLabels;
}

/** The labels of a tool. `undefined` if the agent has no such tool. */
function labelsOf({ tools }: LoopSettings, tool: string): readonly ToolLabel[] | undefined {
  return Object.hasOwn(tools, tool) ? (tools[tool]?.labels ?? []) : undefined;
}
