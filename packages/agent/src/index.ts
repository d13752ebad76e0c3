export { defineAgent } from "./define-agent.ts";
export { defineTool } from "./tool/tool.ts";
export type {
  Effect,
  Policy,
  SessionInfo,
  Tool,
  ToolDefinition,
  ToolExecution,
  ToolLimits,
} from "./tool/tool.ts";
export type {
  ActiveRun,
  Agent,
  AgentSettings,
  CommonSettings,
  ContextSettings,
  CustomAgentSettings,
  ItemWriter,
  OpenOptions,
  PolicyRule,
  Respond,
} from "./agent.ts";
export type { CallToRun, Hooks } from "./hooks.ts";
export type { Limits } from "./loop/limits.ts";
export type { Schema, SchemaOutput } from "./schema/schema.ts";
export type { Acceptance, BlobLike, Content, SentInput } from "./session/input.ts";
export type { Run, RunResult } from "./session/run.ts";
export type { OutputFor, RunOptions, Session } from "./session/session.ts";
export type { Observer } from "./observe/observer.ts";
export { narrateTo } from "./observe/narrate-to.ts";
export type { NarrateOptions } from "./observe/narrate-to.ts";
export { jsonLines } from "./observe/json-lines.ts";
export { createUsageMeter } from "./observe/usage.ts";
export type { UsageMeter } from "./observe/usage.ts";
export { queuedObserver } from "./observe/queued.ts";
export type { QueuedObserver, QueueOptions } from "./observe/queued.ts";

// For whoever builds a terminal, a driver or a store of their own.
export { createNarrator } from "./observe/narrator.ts";
export { createTerminalText, terminalLine } from "./observe/terminal-text.ts";
export type { TerminalText } from "./observe/terminal-text.ts";
export type { TextSink } from "./observe/write-to.ts";
export { decide } from "./loop/decide.ts";
export type { Action } from "./loop/action.ts";
export { advance, standingOf } from "./loop/advance.ts";
export type { LoopState, Standing } from "./loop/state.ts";
