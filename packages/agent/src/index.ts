export { defineAgent } from "./define/define-agent.ts";
export { defineTool } from "./definition/tool.ts";
export type {
  Effect,
  Policy,
  SessionInfo,
  Tool,
  ToolAttachment,
  ToolDefinition,
  ToolExecution,
  ToolLimits,
} from "./definition/tool.ts";
export type { ToolLabel } from "./definition/labels.ts";
export type { Agent } from "./define/agent.ts";
export type {
  ActiveRun,
  AgentSettings,
  CommonSettings,
  ContextSettings,
  CustomAgentSettings,
  ItemWriter,
  PolicyRule,
  Respond,
  TracedRequest,
  Yielded,
} from "./definition/settings.ts";
export type { OpenOptions } from "./session/open.ts";
export type { SessionRemoval } from "./session/remove.ts";
export type { CallToRun, Hooks } from "./definition/hooks.ts";
export type { Limits } from "./definition/limits.ts";
export type { StallSettings } from "./definition/stall.ts";
export type { OutputFor, Schema, SchemaInput, SchemaOutput } from "@millrace/core/schema";
export type {
  Acceptance,
  BlobLike,
  Content,
  SendOptions,
  Sent,
  SentInput,
} from "./session/input.ts";
export type { Run, RunResult } from "./session/run.ts";
export type {
  AllowOptions,
  ChildSession,
  RunOptions,
  Session,
  EarlierOptions,
  EarlierPage,
  SessionWatchOptions,
} from "./session/session.ts";
export type { Observer } from "./definition/observer.ts";
export { narrateTo } from "./observe/narrate-to.ts";
export type { NarrateOptions } from "./observe/narrate-to.ts";
export { jsonLines } from "./observe/json-lines.ts";
export { createUsageMeter } from "./observe/usage.ts";
export type { UsageMeter } from "./observe/usage.ts";
export { queuedObserver } from "./observe/queued.ts";
export type { QueuedObserver, QueueOptions } from "./observe/queued.ts";
export type { TextSink } from "./observe/write-to.ts";
