import { toolLabels } from "../definition/labels.ts";
import type { ToolLabel } from "../definition/labels.ts";
import type { LoopSettings } from "../definition/loop-settings.ts";
import type { CallStanding, LoopState } from "./state.ts";

/**
 * True if the tool of a call has a label and the session has all three with it: by the tools whose results
 * the transcript holds, and by the calls of the same reply, which may run beside it. It follows from facts
 * and settings alone, and stays true for a call, so every driver asks the same.
 */
export function completesLabels({ settings, standing }: LoopState, call: CallStanding): boolean {
  if (settings.allLabels === "allow" || (labelsOf(settings, call.tool) ?? []).length === 0) {
    return false;
  }
  const beside = standing.run?.turn?.reply?.calls ?? [];
  const seen = new Set([
    // A tool that the agent no longer has may have had any label.
    ...standing.ran.flatMap((tool) => labelsOf(settings, tool) ?? toolLabels),
    // One that it never had is refused.
    ...beside.flatMap(({ tool }) => labelsOf(settings, tool) ?? []),
  ]);
  return toolLabels.every((label) => seen.has(label));
}

/** The labels of a tool. `undefined` if the agent has no such tool. */
function labelsOf({ tools }: LoopSettings, tool: string): readonly ToolLabel[] | undefined {
  return Object.hasOwn(tools, tool) ? (tools[tool]?.labels ?? []) : undefined;
}
