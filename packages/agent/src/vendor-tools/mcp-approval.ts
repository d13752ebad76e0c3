import type { McpApprovalInput } from "@millrace/core/model";
import { expects } from "@millrace/core/checks";
import { defineTool } from "../definition/tool.ts";
import type { Tool } from "../definition/tool.ts";
import { checkSettings, sharedSettings } from "./settings.ts";
import type { VendorToolSettings } from "./settings.ts";
import { recordOf, schemaFrom, text } from "./variants.ts";

/** The settings of `mcpApprovalTool`. */
export interface McpApprovalToolOptions extends Omit<
  VendorToolSettings<McpApprovalInput>,
  "native"
> {
  /** Called when a call was allowed. Left out: nothing. */
  readonly run?: ((input: McpApprovalInput) => void | Promise<void>) | undefined;
}

/**
 * Answers a vendor that wants to call a tool of an MCP server and has to be allowed: asks a person, or
 * decides by `approve`. The vendor makes the call. For OpenAI's Responses API with an MCP server in its
 * settings; other vendors ask for no approval, and refuse it.
 */
export function mcpApprovalTool(
  options: McpApprovalToolOptions = {},
): Tool<string, McpApprovalInput, string> {
  const run = expects.optional(expects.call());
  checkSettings("mcpApprovalTool", mcpApprovalTool, options, { run });
  const { run: allowed } = options;
  return defineTool({
    ...sharedSettings<McpApprovalInput>(options, {
      name: "mcp_approval",
      description: "Allows a call of a server's tool.",
      approve: "ask",
    }),
    // Nothing is done here: the vendor makes the call once it gets the answer.
    effect: allowed === undefined ? "pure" : "effectful",
    vendor: { kind: "mcp_approval" },
    input: schemaFrom<McpApprovalInput>(approval.schema, (value) =>
      approval.accepts(value) ? [] : [{ message: "must have server, tool and arguments" }],
    ),
    run: async (input) => {
      await allowed?.(input);
      return "approved";
    },
  });
}

const approval = recordOf({
  server: text("the label of the server"),
  tool: text("the tool that is called"),
  arguments: text("its arguments"),
});
