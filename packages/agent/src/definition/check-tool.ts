import { checkOptions, expects, refusal } from "@millrace/core/checks";
import type { Door, OptionCheck } from "@millrace/core/checks";
import type { Schema } from "@millrace/core/schema";
import { toolLabels } from "./labels.ts";
import type { ToolLabel } from "./labels.ts";
import type { ToolDefinition, ToolLimits } from "./tool.ts";

const { either, call, oneOf, optional, record } = expects;

/** Allows names such as `fs.read_file`. Providers rename them for vendors that allow fewer characters. */
const toolName = /^[A-Za-z0-9_.:/-]{1,64}$/;

export const toolNameCheck: OptionCheck = {
  accepts: (value) => typeof value === "string" && toolName.test(value),
  fix: 'use 1 to 64 letters, digits, "_", "-", ".", ":" or "/"',
};

/** The labels of one tool. */
export const labelsCheck: OptionCheck = {
  accepts: (value) =>
    Array.isArray(value) && value.every((label: ToolLabel) => toolLabels.includes(label)),
  fix: `use a list of ${toolLabels.map((label) => JSON.stringify(label)).join(", ")}`,
};

const schemaFix =
  "pass a schema of zod 4.2 or later, of another Standard Schema library, or fromJsonSchema({ … }) of @millrace/agent/json-schema";

/** A Standard Schema, as tools and runs take it. */
export const schemaCheck: OptionCheck = {
  accepts: (value) =>
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    "~standard" in value,
  fix: schemaFix,
};

const vendorKinds = ["computer", "shell", "apply_patch", "text_editor", "memory", "mcp_approval"];

/** A tool that vendors define. */
const vendorCheck: OptionCheck = {
  accepts: (value) =>
    typeof value === "object" &&
    value !== null &&
    "kind" in value &&
    vendorKinds.some((kind) => kind === value.kind),
  fix: "use what a function of @millrace/agent/tools makes, such as shellTool({ run })",
};

/** Names of options in other libraries. */
const hints = {
  inputSchema: `write it as input, and ${schemaFix}`,
  parameters: `write it as input, and ${schemaFix}`,
  schema: `write it as input, and ${schemaFix}`,
  outputSchema: "write it as output",
  execute: "write the function as run",
  handler: "write the function as run",
  func: "write the function as run",
  invoke: "write the function as run",
  needsApproval: 'write approve: "ask"',
};

/** Throws `invalid_definition` for a definition that can't work, with what to write instead. */
export function checkTool(definition: unknown, from: Door["from"]): void {
  const door = { name: "defineTool", from, hints };
  checkOptions<ToolDefinition<string, Schema<object, unknown>, unknown>>(door, definition, {
    name: toolNameCheck,
    description: optional({ accepts: (value) => typeof value === "string", fix: "use a text" }),
    input: schemaCheck,
    output: optional(schemaCheck),
    effect: optional(oneOf("pure", "idempotent", "effectful")),
    sequence: optional(oneOf("parallel", "alone")),
    approve: optional(
      either(oneOf("allow", "ask", "deny"), call(), 'use "allow", "ask", "deny" or a function'),
    ),
    limits: optional(record("use an object such as { seconds: 60 }")),
    labels: optional(labelsCheck),
    queue: optional({
      accepts: (value) => typeof value === "string" && value.length > 0 && value.length <= 200,
      fix: "use the name of a task queue, of 1 to 200 characters",
    }),
    vendor: optional(vendorCheck),
    run: either(
      call(),
      oneOf("client"),
      'pass a function of the input, or "client" if a client answers the calls',
    ),
  });
  const { name, input, output, run, limits } = definition as {
    readonly name: string;
    readonly input: { readonly "~standard": object | undefined };
    readonly output?: unknown;
    readonly run: unknown;
    readonly limits?: unknown;
  };
  if (limits !== undefined) {
    checkOptions<ToolLimits>({ ...door, inside: "limits" }, limits, {
      seconds: optional(expects.above0("a number of seconds")),
      outputBytes: optional(expects.whole(1)),
      repeats: optional(expects.whole(1)),
    });
  }
  if (run === "client" && output === undefined) {
    throw refusal(
      door,
      `output is missing: the tool ${name} is answered by a client, so it needs an output schema to check the answer by`,
    );
  }
  if ((input["~standard"] as { readonly jsonSchema?: unknown }).jsonSchema === undefined) {
    throw refusal(
      door,
      `input has no JSON Schema half, so the tool ${name} can't be described to a model: ${schemaFix}`,
    );
  }
}

/** What `defineTool` makes. Used for lists of tools. */
export const toolsCheck: OptionCheck = {
  accepts: (value) => Array.isArray(value) && value.every(isTool),
  fix: "use a list of what defineTool made, such as [weather]",
};

function isTool(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return "name" in value && "inputSchema" in value && "run" in value;
}
