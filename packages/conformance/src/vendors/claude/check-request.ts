import type { JsonObject } from "@millrace/core";
import { objectAt, textAt } from "../json.ts";
import { refuse } from "../refusal.ts";
import { betas } from "./betas.ts";
import type { ClaudeBody } from "./body.ts";
import { checkFields } from "./check-blocks.ts";

const bodyFields = `model? messages max_tokens stream? system? tools? tool_choice? thinking? output_config? \
temperature? top_p? top_k? stop_sequences? metadata? service_tier? container? mcp_servers? \
context_management? cache_control? diagnostics? fallbacks? inference_geo? speed? compaction? \
anthropic_version? anthropic_beta?`;

/** Checks the fields of the body outside its messages. */
export function checkRequest(body: ClaudeBody): void {
  const { fields } = body;
  checkFields(fields, bodyFields, "");
  const most = fields["max_tokens"];
  if (typeof most !== "number" || !Number.isInteger(most) || most < 1) {
    refuse("max_tokens: Input should be a valid positive integer");
  }
  checkThinking(body);
  checkOutput(objectAt(fields, "output_config"), "output_config", "effort? format? task_budget?");
  checkTools(body);
}

const thinkingFields: Readonly<Record<string, string>> = {
  adaptive: "type display? block_binding?",
  enabled: "type budget_tokens display? block_binding?",
  disabled: "type",
  between_tools: "type",
};

function checkThinking({ fields, betas: sent }: ClaudeBody): void {
  const thinking = objectAt(fields, "thinking");
  if (thinking === undefined) return;
  const type = textAt(thinking, "type") ?? "";
  const allowed = thinkingFields[type];
  if (allowed === undefined) {
    return refuse(
      `thinking: Input tag '${type}' found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'`,
    );
  }
  const path = `thinking.${type}`;
  const isOpen = sent.has(betas.binding);
  checkFields(thinking, isOpen ? allowed : allowed.replace(" block_binding?", ""), path);
  const binding = objectAt(thinking, "block_binding");
  if (binding === undefined) return;
  checkFields(binding, "prefix_mismatch_behavior?", `${path}.block_binding`);
  const behaviour = binding["prefix_mismatch_behavior"];
  if (behaviour === undefined || behaviour === "error" || behaviour === "drop_block") return;
  refuse(`${path}.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'`);
}

/** Checks an `output_config` of the body, or of a system message, which takes the effort only. */
export function checkOutput(config: JsonObject | undefined, path: string, allowed: string): void {
  if (config === undefined) return;
  checkFields(config, allowed, path);
  if (config["effort"] === undefined) return;
  if (["low", "medium", "high", "xhigh", "max"].includes(textAt(config, "effort") ?? "")) return;
  refuse(`${path}.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'`);
}

const customTool = `name input_schema type? description? cache_control? strict? defer_loading? \
allowed_callers? eager_input_streaming? input_examples?`;

function checkTools({ tools }: ClaudeBody): void {
  const names = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    const name = checkTool(tool, `tools.${at}`);
    if (names.has(name)) refuse("tools: Tool names must be unique.");
    names.add(name);
  }
}

/** Checks the definition of a tool and returns its name. */
export function checkTool(tool: JsonObject, path: string): string {
  // Tools of the vendor have fields of their own, which change with each version.
  if (toolType(tool) !== "custom") return textAt(tool, "name") ?? toolType(tool);
  checkFields(tool, customTool, `${path}.custom`);
  const name = textAt(tool, "name") ?? "";
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
    refuse(`${path}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  }
  if (objectAt(tool, "input_schema")?.["type"] !== "object") {
    refuse(`${path}.custom.input_schema.type: Input should be 'object'`);
  }
  return name;
}

/** The type of a tool without the date of its version. */
export function toolType(tool: JsonObject): string {
  return (textAt(tool, "type") ?? "custom").replace(/_\d{8}$/, "");
}
