import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { canonical, objectAt, textAt } from "../json.ts";
import { refuse } from "../refusal.ts";
import { betas, pathOf } from "./betas.ts";
import { typeOf } from "./body.ts";
import type { ClaudeBody } from "./body.ts";
import { checkFields } from "./check-blocks.ts";
import { checkTool, toolType } from "./check-request.ts";

const limits = { tools: 10_000, bytes: 4_194_304 };

/** A tool at one position of the conversation. */
interface ToolState {
  readonly definition: JsonObject;
  readonly isOffered: boolean;
  /** True if a message defined it, and not the body's `tools`. */
  readonly isInline: boolean;
}

/** Checks all tool changes in order. Returns the names of the tools that are offered at the end. */
export function checkToolChanges(body: ClaudeBody): readonly string[] {
  const states = new Map<string, ToolState>();
  for (const definition of body.tools) {
    const name = textAt(definition, "name") ?? toolType(definition);
    const isOffered = definition["defer_loading"] !== true;
    states.set(name, { definition, isOffered, isInline: false });
  }
  for (const message of body.messages) {
    for (const [at, block] of message.blocks.entries()) {
      if (typeOf(block) === "tool_addition")
        addTool(states, block, { body, path: pathOf(message, at) });
      if (typeOf(block) === "tool_removal") {
        const { name, tool } = referenced(states, block, pathOf(message, at));
        states.set(name, { ...tool, isOffered: false });
      }
    }
    if (message.role === "system") checkLimits(states, pathOf(message));
  }
  return [...states].filter(([, { isOffered }]) => isOffered).map(([name]) => name);
}

interface Spot {
  readonly body: ClaudeBody;
  readonly path: string;
}

function addTool(states: Map<string, ToolState>, block: JsonObject, { body, path }: Spot): void {
  const given = objectAt(block, "tool");
  if (typeOf(given) !== "tool_definition") {
    const { name, tool } = referenced(states, block, path);
    states.set(name, { ...tool, isOffered: true });
    return;
  }
  if (!body.betas.has(betas.toolsByValue)) {
    refuse(
      `${path}.tool_addition.tool: Input tag 'tool_definition' found using 'type' does not match any of the expected tags: 'mcp_tool_reference', 'mcp_toolset_reference', 'tool_reference'`,
    );
  }
  const place = `${path}.tool_addition.tool.tool_definition`;
  checkFields(given ?? {}, "type definition", place);
  const definition = objectAt(given, "definition") ?? {};
  const name = checkTool(definition, `${place}.definition`);
  const before = states.get(name)?.definition;
  if (before !== undefined && toolType(before) !== toolType(definition)) {
    refuse(
      `${path}.tool_addition.tool.definition: the name '${name}' is already used by a tool of type '${toolType(before)}'`,
      { code: "tool_name_conflict" },
    );
  }
  if (Object.hasOwn(block, "cache_control") && Object.hasOwn(definition, "cache_control")) {
    refuse(`${path}: cache_control goes on the block or in the definition, not both`);
  }
  const isOffered = definition["defer_loading"] !== true;
  states.set(name, { definition, isOffered, isInline: true });
}

/** The tool that a change names. */
function referenced(
  states: ReadonlyMap<string, ToolState>,
  block: JsonObject,
  path: string,
): { readonly name: string; readonly tool: ToolState } {
  const name = textAt(objectAt(block, "tool"), "name") ?? "";
  const tool = states.get(name);
  if (tool !== undefined) return { name, tool };
  return refuse(`${path}: tool_addition/tool_removal references unknown tool '${name}'`, {
    code: "tool_reference_unresolved",
  });
}

function checkLimits(states: ReadonlyMap<string, ToolState>, path: string): void {
  const inline = [...states.values()].filter(({ isInline, isOffered }) => isInline && isOffered);
  if (inline.length === 0) return;
  const bytes = inline.reduce((sum, { definition }) => sum + canonical(definition).length, 0);
  if (inline.length <= limits.tools && bytes <= limits.bytes) return;
  refuse(`${path}: the tools available after this message exceed a limit`, {
    code: "available_tools_limit_exceeded",
  });
}

/** The names of tools to which a block refers: by a change, or by the result of a search for tools. */
export function referencesOf(block: JsonObject): readonly string[] {
  const found: string[] = [];
  const visit = (value: Json): void => {
    if (Array.isArray(value)) (value as readonly Json[]).forEach(visit);
    if (!isJsonObject(value)) return;
    if (typeOf(value) === "tool_reference") {
      const name = textAt(value, "name") ?? textAt(value, "tool_name");
      if (name !== undefined) found.push(name);
    }
    for (const inner of Object.values(value)) visit(inner);
  };
  const type = typeOf(block);
  if (type === "tool_addition" || type === "tool_removal" || type.endsWith("tool_result")) {
    visit(block);
  }
  return found;
}
