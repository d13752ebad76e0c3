// For authors of models: what makes a model of a vendor's replies, when a request is tried again, and the tools that
// vendors define. It loads no store and no lane, so a program that only asks a model loads little.
export { parseArguments } from "./content/arguments.ts";
export { repairTranscript } from "./content/transcript.ts";
export { addUsage } from "./content/usage.ts";
export { commitOf } from "./delta/commit.ts";
export { wholeText } from "./delta/delta.ts";
export { defaultDraftLimits } from "./delta/draft.ts";
export { callId, itemId, partId } from "./ids.ts";
export { List } from "./list.ts";
export { continuation } from "./ports/model.ts";
export type { RequestUpdate } from "./ports/model.ts";
export { abortedCause, createModelStream } from "./ports/model-stream.ts";
export type { EndedReply, ReplySource, ReplyWriter } from "./ports/model-stream.ts";
export { defaultRetryPolicy, endlessPause, retryDelay, retryHintOf } from "./ports/retry.ts";
export type { RetryHint, RetryPolicy } from "./ports/retry.ts";
export { systemClock } from "./reference/system.ts";
export type {
  ComputerAction,
  ComputerInput,
  ComputerSettings,
  InsertCommand,
  McpApprovalInput,
  MemoryInput,
  MouseButton,
  PatchInput,
  Point,
  ReplaceCommand,
  SafetyCheck,
  ShellInput,
  ShellOutput,
  TextEditorInput,
  TextEditorSettings,
  VendorTool,
  ViewCommand,
} from "./ports/vendor-tool.ts";
