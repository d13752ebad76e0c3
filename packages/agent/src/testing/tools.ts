import {
  callId,
  itemId,
  parseArguments,
  partId,
  runId,
  sessionId,
  sessionUid,
} from "@millrace/core/writing";
import type { ToolCallPart } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { countingIds, manualClock } from "@millrace/core/testing";
import type { AssessContext } from "../tool/assess.ts";
import type { Checked, Schema } from "@millrace/core/schema";
import { runTool } from "../tool/run-tool.ts";
import type { RunToolOptions, ToolOutcome } from "../tool/run-tool.ts";
import { defineTool } from "../definition/tool.ts";
import type { AnyTool, SessionInfo, ToolExecution } from "../definition/tool.ts";

export const session: SessionInfo = {
  id: sessionId("s"),
  tenant: "t",
  user: "u",
  metadata: {},
};

/** A call as a model writes it: the raw text, strictly parsed. */
export function callOf(tool: string, raw: string): ToolCallPart {
  return {
    kind: "tool_call",
    id: partId("p"),
    callId: callId("c"),
    tool,
    raw,
    ...parseArguments(raw),
  };
}

export function contextOf(
  tools: readonly AnyTool[],
  more: Partial<AssessContext> = {},
): AssessContext {
  return {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    rules: [],
    session,
    uid: sessionUid("uid"),
    runId: runId("r"),
    itemId: itemId("i"),
    ...more,
  };
}

/** A schema made of one function. */
export function schemaOf<Out>(
  validate: (value: unknown) => Checked<Out> | Promise<Checked<Out>>,
): Schema<object, Out> {
  const jsonSchema = (): Record<string, unknown> => ({ type: "object" });
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate,
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}

/** A schema that accepts everything unchanged. */
export const anything: Schema<object, object> = schemaOf((value) => ({ value: value as object }));

/** The options of an execution. `emitted` and `progress` collect its output and its progress messages. */
export function executionOf(
  tool: AnyTool,
  more: Partial<RunToolOptions> = {},
): RunToolOptions & { readonly emitted: string[]; readonly progress: string[] } {
  const emitted: string[] = [];
  const progress: string[] = [];
  const clock = more.clock ?? manualClock();
  return {
    tool,
    input: {},
    execution: {
      callId: callId("c"),
      effectKey: "k",
      session,
      "~host": {
        parent: { uid: sessionUid("s"), owner: undefined },
        store: memorySessionStore(),
        log: memoryEventLog(),
        clock,
        makeId: countingIds(),
        random: () => 0.5,
        depth: 0,
        ask: "deny",
        left: () => false,
        closing: new AbortController().signal,
        allowance: { exhausted: () => undefined, spend: () => Promise.resolve() },
      },
    },
    clock,
    emit: (text) => emitted.push(text),
    report: (message) => progress.push(message),
    signal: new AbortController().signal,
    ...more,
    emitted,
    progress,
  };
}

export type RunFunction = (input: object, execution: ToolExecution) => unknown;

/** A tool made of one function. */
export function toolOf(run: RunFunction): AnyTool {
  return defineTool({ name: "t", input: anything, run });
}

/** Runs a function as a tool to its end. Returns the outcome with the emitted text. */
export async function outcomeOf(
  run: RunFunction,
  more: Partial<RunToolOptions> = {},
): Promise<ToolOutcome & { readonly emitted: string }> {
  const options = executionOf(toolOf(run), more);
  const outcome = await runTool(options);
  return { ...outcome, emitted: options.emitted.join("") };
}
