export { openMcp } from "./open-mcp.ts";
export type { McpAddress, McpCommand, McpConnection, McpOptions, McpSettings } from "./open-mcp.ts";
export type { Pins } from "./pins.ts";
export type { McpTool, RefusedTool } from "./describe-tools.ts";
