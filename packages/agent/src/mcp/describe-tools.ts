import { redactedMessage } from "@millrace/core/secrets";
import { isJsonObject } from "@millrace/core/wire";
import type { JsonObject } from "@millrace/core";

import type { Schema } from "@millrace/core/schema";
import { fromJsonSchema } from "../schema/json-schema.ts";
import type { ToolLabel } from "../definition/labels.ts";
import { defineTool } from "../definition/tool.ts";
import type { Effect, Policy, Tool } from "../definition/tool.ts";
import { callTool } from "./call-tool.ts";
import type { CallOptions, CallTarget } from "./call-tool.ts";
import { pinOf } from "./pins.ts";
import type { Pins } from "./pins.ts";
import { nameTools } from "./tool-names.ts";
import type { NamedTool } from "./tool-names.ts";
import { readSchema } from "./tool-schema.ts";
import { cappedText, oneLine, visibleText } from "./visible-text.ts";

/** Whatever an object may hold. */
export type AnyInput = Readonly<Record<string, unknown>>;

/** A tool that a server offers. */
export type McpTool<Server extends string> = Tool<`${Server}_${string}`, AnyInput>;

/** A tool that a server offers and that was left out. */
export interface RefusedTool {
  /** The server's own name for it, shortened and readable. */
  readonly tool: string;
  readonly reason: string;
}

export interface DescribeOptions {
  readonly target: CallTarget;
  readonly trustAnnotations: boolean;
  readonly approve: "ask" | "deny";
  /** The server's own names for the tools that run without a question. */
  readonly trust: readonly string[];
  /** Returns the pins by which the tools are compared, given theirs. */
  readonly keepPins: (pins: Pins) => Pins;
  readonly labels: Readonly<Record<string, readonly ToolLabel[]>>;
  readonly callTimeoutMs: number;
}

export interface DescribedTools<Server extends string> {
  readonly tools: readonly McpTool<Server>[];
  readonly refused: readonly RefusedTool[];
  readonly pins: Pins;
}

/** UTF-8 bytes kept of a tool's description: longer ones crowd out the rest of the context. */
const descriptionBytes = 8_192;

/** Makes tools of what a server listed. One bad tool is left out and hurts none of the others. */
export async function describeTools<Server extends string>(
  server: Server,
  listed: readonly JsonObject[],
  options: DescribeOptions,
): Promise<DescribedTools<Server>> {
  const names = await nameTools(server, listed.map(nameOf));
  const usable: { readonly listed: JsonObject; readonly tool: McpTool<Server> }[] = [];
  const refused: RefusedTool[] = [];
  const pins = new Map<string, string>();
  for (const [index, named] of names.entries()) {
    const found = listed[index] ?? {};
    const made = describe<Server>(found, named, options);
    if ("reason" in made) refused.push({ tool: oneLine(named.tool, 128), reason: made.reason });
    else {
      usable.push({ listed: found, tool: made });
      pins.set(named.tool, await pinOf(found));
    }
  }
  for (const name of options.trust.filter((trusted) => !pins.has(trusted))) {
    refused.push({ tool: oneLine(name, 128), reason: "trust names it, and it is not offered" });
  }
  const kept = options.keepPins(Object.fromEntries(pins));
  const tools = usable.map(({ listed: found, tool }) => {
    const name = nameOf(found);
    const isPinned = kept[name] === pins.get(name);
    return { ...tool, approve: policyOf(name, found, isPinned, options) };
  });
  return { tools, refused, pins: Object.fromEntries(pins) };
}

/**
 * A stranger's tool runs without a question only if `trust` names it, its description and schemas are
 * those of its pin, and the server doesn't call it destructive. A hint never makes that looser.
 */
function policyOf(
  name: string,
  listed: JsonObject,
  isPinned: boolean,
  { approve, trust }: DescribeOptions,
): Policy {
  if (approve === "deny") return "deny";
  const isDestructive = hint(listed, "destructiveHint");
  return trust.includes(name) && isPinned && !isDestructive ? "allow" : "ask";
}

function hint(listed: JsonObject, name: string): boolean {
  const { annotations } = listed;
  return isJsonObject(annotations) && annotations[name] === true;
}

/** A call hands its input to a stranger, and its result is a stranger's text. */
const strangersLabels: readonly ToolLabel[] = ["sees_untrusted", "acts_outside"];

function nameOf(tool: JsonObject): string {
  const name = tool["name"];
  // A longer one is a payload.
  return typeof name === "string" && name.length <= 256 ? name : "";
}

function describe<Server extends string>(
  listed: JsonObject,
  named: NamedTool,
  options: DescribeOptions,
): McpTool<Server> | { readonly reason: string } {
  if ("reason" in named) return named;
  const input = schemaOf(listed["inputSchema"]);
  if ("reason" in input) return { reason: `its input schema: ${input.reason}` };
  const promised = listed["outputSchema"];
  const output = promised === undefined ? undefined : schemaOf(promised);
  if (output !== undefined && "reason" in output) {
    return { reason: `its output schema: ${output.reason}` };
  }

  const { target, callTimeoutMs, labels } = options;
  const given = Object.hasOwn(labels, named.tool) ? labels[named.tool] : undefined;
  const call: CallOptions = {
    tool: named.tool,
    definition: { name: named.tool, inputSchema: { ...input.shown, type: "object" } },
    isStructured: output !== undefined,
    callTimeoutMs,
  };
  return defineTool({
    // It begins with the server's name, which `nameTools` leaves as it is.
    name: named.name as `${Server}_${string}`,
    description: descriptionOf(listed["description"]),
    input: input.schema,
    output: output?.schema,
    effect: effectOf(listed["annotations"], options.trustAnnotations),
    approve: "ask",
    limits: { seconds: callTimeoutMs / 1_000 },
    // A hint may add to what the program knows, and takes nothing away.
    labels: [
      ...new Set([
        ...(given ?? strangersLabels),
        ...(hint(listed, "openWorldHint") ? strangersLabels : []),
      ]),
    ],
    run: (given: AnyInput, execution) => callTool(target, call, given, execution),
  });
}

function descriptionOf(description: unknown): string | undefined {
  if (typeof description !== "string") return undefined;
  return cappedText(visibleText(description), descriptionBytes);
}

/**
 * A server's hints are its own claims. Believed, a wrong one makes us repeat what must not be
 * repeated, so unless the server is trusted each of its tools counts as one with effects.
 */
function effectOf(annotations: unknown, trusted: boolean): Effect {
  if (!trusted || !isJsonObject(annotations)) return "effectful";
  if (annotations["readOnlyHint"] === true) return "pure";
  return annotations["idempotentHint"] === true ? "idempotent" : "effectful";
}

type MadeSchema =
  | { readonly schema: Schema<AnyInput, AnyInput>; readonly shown: JsonObject }
  | { readonly reason: string };

function schemaOf(listed: unknown): MadeSchema {
  const read = readSchema(listed);
  if (!read.ok) return { reason: read.reason };
  try {
    const checked = fromJsonSchema(read.checked)["~standard"];
    const shown = (): Record<string, unknown> => ({ ...read.shown });
    const jsonSchema = { input: shown, output: shown };
    return {
      schema: { "~standard": { ...checked, jsonSchema } },
      shown: read.shown,
    };
  } catch (error) {
    // The compiler's own words, which quote the schema.
    return { reason: `it can't be compiled: ${oneLine(redactedMessage(error), 300)}` };
  }
}
