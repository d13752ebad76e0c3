export { computerTool } from "./computer.ts";
export type { ComputerResult, ComputerToolOptions } from "./computer.ts";
export { shellTool } from "./shell.ts";
export type { ShellToolOptions } from "./shell.ts";
export { applyPatchTool, memoryTool, textEditorTool } from "./files.ts";
export type { ApplyPatchToolOptions, MemoryToolOptions, TextEditorToolOptions } from "./files.ts";
export { mcpApprovalTool } from "./mcp-approval.ts";
export type { McpApprovalToolOptions } from "./mcp-approval.ts";
export type { ApproveSetting, RunVendorTool, VendorToolSettings } from "./settings.ts";
export type {
  ComputerAction,
  ComputerInput,
  McpApprovalInput,
  MemoryInput,
  PatchInput,
  ShellInput,
  ShellOutput,
  TextEditorInput,
} from "@millrace/core/model";
