import { isJsonObject } from "@millrace/core/wire";
import type { JsonObject } from "@millrace/core";
import type { ShellInput, ShellOutput } from "@millrace/core/model";
import type { Issue } from "@millrace/core/schema";
import { defineTool } from "../definition/tool.ts";
import type { Tool } from "../definition/tool.ts";
import { checkSettings, sharedSettings } from "./settings.ts";
import type { RunVendorTool, VendorToolSettings } from "./settings.ts";
import { flag, listOf, schemaFrom, text, texts, whole } from "./variants.ts";
import type { Field } from "./variants.ts";

/** The settings of `shellTool`. */
export interface ShellToolOptions extends VendorToolSettings<ShellInput> {
  /** Runs the commands. What it streams by `append` reaches viewers at once. */
  readonly run: RunVendorTool<ShellInput, ShellOutput | string>;
}

/** A shell for a model. Asks before each call unless `approve` is given. It ships no shell: `run` is one. */
export function shellTool(
  options: ShellToolOptions,
): Tool<string, ShellInput, ShellOutput | string> {
  checkSettings("shellTool", shellTool, options);
  const { run, native } = options;
  return defineTool({
    ...sharedSettings<ShellInput>(options, {
      name: "shell",
      description: "Runs commands in a shell and gives their output and exit codes.",
      approve: "ask",
    }),
    vendor: { kind: "shell", native },
    input: schemaFrom<ShellInput>(shellSchema, shellIssues),
    run,
  });
}

const commands = listOf("run one after another in one shell", text("a command line"));
const optional: Readonly<Record<string, Field>> = {
  restart: flag("begin with a new shell"),
  timeoutMs: whole("end the commands after this time"),
  maxOutputLength: whole("the most characters of output"),
  directory: text("where the commands run"),
  env: texts("variables of the environment"),
  user: text("the user that runs the commands"),
};

/** What no function needs, and only a vendor's own tool may send, is left out. */
const shellSchema: JsonObject = {
  type: "object",
  properties: {
    commands: commands.schema,
    ...Object.fromEntries(
      ["restart", "timeoutMs", "maxOutputLength"].map((name) => [
        name,
        optional[name]?.schema ?? {},
      ]),
    ),
  },
  required: ["commands"],
};

function shellIssues(value: unknown): readonly Issue[] {
  if (!isJsonObject(value)) return [{ message: "must be an object" }];
  const given: JsonObject = value;
  if (!commands.accepts(given["commands"])) {
    return [{ message: "must be a list of texts", path: ["commands"] }];
  }
  return Object.entries(optional).flatMap(([name, { accepts, schema }]): readonly Issue[] => {
    if (given[name] === undefined || accepts(given[name])) return [];
    return [{ message: `must be ${JSON.stringify(schema["type"] ?? "")}`, path: [name] }];
  });
}
