import type { Model, Usage } from "@millrace/core";
import type { TraceContext } from "@millrace/core/ports";
import type { Hooks } from "./hooks.ts";
import type { LoopSettings } from "./loop-settings.ts";
import type { ContextSettings, PolicyRule, Respond, TracedRequest } from "./settings.ts";
import type { FilledStallSettings } from "./stall.ts";
import type { AnyTool, SessionInfo } from "./tool.ts";

/** The settings of an agent with all defaults filled in. */
export interface Blueprint {
  readonly name: string;
  readonly settings: LoopSettings;
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly model: Model | undefined;
  readonly instructions: string | ((session: SessionInfo) => string | Promise<string>) | undefined;
  readonly notes: ((session: SessionInfo) => string | Promise<string>) | undefined;
  readonly respond: Respond | undefined;
  readonly rules: readonly PolicyRule[];
  readonly hooks: Hooks;
  readonly context: ContextSettings | undefined;
  readonly stall: FilledStallSettings | false;
  readonly trace: ((place: TracedRequest) => TraceContext | undefined) | undefined;
  readonly warnings: boolean;
  readonly price: ((usage: Usage, model: string) => number | undefined) | undefined;
}
