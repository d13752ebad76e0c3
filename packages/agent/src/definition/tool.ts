import { MillraceError } from "@millrace/core";
import type { CallId, Json, SessionId } from "@millrace/core";
import type { Metadata } from "@millrace/core/writing";
import type { ToolShape } from "@millrace/core/reading";
import type { Schema, SchemaOutput } from "../schema/schema.ts";
import { jsonSchemaOf } from "../schema/schema.ts";
import type { ToolHost } from "./tool-host.ts";

/**
 * What may happen if a call is carried out again after its outcome was lost. `pure` changes nothing;
 * `idempotent` may be repeated under the same effect key; `effectful` is never repeated: its lost
 * outcome is shown as unknown.
 */
export type Effect = "pure" | "idempotent" | "effectful";

/** Whether a call may run: yes, no, or a person decides. */
export type Policy = "allow" | "ask" | "deny";

/** The session as tools, hooks and policies see it. */
export interface SessionInfo {
  readonly id: SessionId;
  readonly tenant: string;
  readonly user: string;
  readonly metadata: Metadata;
}

/** One execution, seen by the tool that runs. All functions are bound. */
export interface ToolExecution {
  readonly callId: CallId;
  /** The same for every try at this call, and for no other call: an idempotency key. */
  readonly effectKey: string;
  readonly session: SessionInfo;
  /** Tells whoever watches how it goes. The latest replaces the one before; ignored once settled. */
  readonly progress: (update: { readonly message: string }) => void;
  /** Streams output text, which becomes the text of the result. Ignored once settled. */
  readonly append: (text: string) => void;
  /** Aborted when the run is stopped, a limit is reached, or the tool takes too long. */
  readonly signal: AbortSignal;
  /** For tools that run agents of their own. Not for users: it may change. */
  readonly "~host": ToolHost;
}

/** Bounds of one tool. They hold for each of its calls. */
export interface ToolLimits {
  /** Its signal is aborted then, and soon after the call is answered as failed. */
  readonly seconds?: number | undefined;
  /** UTF-8 bytes of result that the model is given; of the rest head and tail are kept. */
  readonly outputBytes?: number | undefined;
  /** How often the same call may come in a row, for tools that poll. */
  readonly repeats?: number | undefined;
}

/** Something that a model may call. */
export interface Tool<Name extends string = string, In = never, Out = unknown> extends ToolShape<
  Name,
  In,
  Out
> {
  readonly description: string | undefined;
  readonly input: Schema;
  /** What the model is told of the input. */
  readonly inputSchema: Json;
  readonly output: Schema | undefined;
  readonly effect: Effect;
  /** `alone`: nothing runs beside it. */
  readonly sequence: "parallel" | "alone";
  readonly approve:
    | Policy
    | ((input: In, session: SessionInfo) => Policy | Promise<Policy>)
    | undefined;
  readonly limits: ToolLimits;
  /** The session that an execution runs as, for a sub-agent. */
  readonly childSession?: ((effectKey: string) => SessionId) | undefined;
  /** Stops what an execution that was lost may have left going on. */
  readonly abandon?: ((effectKey: string, host: ToolHost) => Promise<void>) | undefined;
  readonly run: ((input: In, execution: ToolExecution) => Out | Promise<Out>) | "client";
}

/** What `defineTool` takes: the tool's name, the schema of its input, and the function that runs. */
export interface ToolDefinition<Name extends string, S extends Schema<object, unknown>, Out> {
  readonly name: Name;
  readonly description?: string | undefined;
  readonly input: S;
  /** Checks what the tool returns; needed where a client answers. */
  readonly output?: Schema<unknown, Out> | undefined;
  /** Left out: `effectful`, the careful one. */
  readonly effect?: Effect | undefined;
  /** Left out: it may run beside others. */
  readonly sequence?: "parallel" | "alone" | undefined;
  /** Left out: `allow`. The strictest of this, the agent's rules and its hook wins. */
  readonly approve?:
    | Policy
    | ((input: SchemaOutput<S>, session: SessionInfo) => Policy | Promise<Policy>)
    | undefined;
  readonly limits?: ToolLimits | undefined;
  /** `client`: whoever watches the session answers the call. */
  readonly run:
    | ((input: SchemaOutput<S>, execution: ToolExecution) => Out | Promise<Out>)
    | "client";
}

/** Any tool, whatever goes in and comes out. */
export type AnyTool = Tool;

/** Names as people write them, such as `fs.read_file`. Providers rename them for vendors that refuse some. */
const toolName = /^[A-Za-z0-9_.:/-]{1,64}$/;

/** Describes a tool. Nothing runs and nothing is opened. */
export function defineTool<const Name extends string, S extends Schema<object, unknown>, Out>(
  definition: ToolDefinition<Name, S, Out>,
): Tool<Name, SchemaOutput<S>, Out> {
  const { name, input, output, run } = definition;
  if (!toolName.test(name)) {
    throw new MillraceError(
      "invalid_definition",
      `a tool's name has 1 to 64 letters, digits, "_", "-", ".", ":" or "/", not ${JSON.stringify(name)}`,
    );
  }
  const { seconds } = definition.limits ?? {};
  if (seconds !== undefined && !(seconds > 0)) {
    throw new MillraceError(
      "invalid_definition",
      `the tool ${name} may take ${seconds} s: leave the limit out, or make it longer than nothing`,
    );
  }
  if (run === "client" && output === undefined) {
    throw new MillraceError(
      "invalid_definition",
      `the tool ${name} is answered by a client, so it needs an output schema to check the answer by`,
    );
  }
  return {
    name,
    description: definition.description,
    input,
    inputSchema: inputSchemaOf(name, input),
    output,
    // A client's answer is waited for again after a crash, which repeats nothing.
    effect: definition.effect ?? (run === "client" ? "idempotent" : "effectful"),
    sequence: definition.sequence ?? "parallel",
    approve: definition.approve,
    limits: definition.limits ?? {},
    run,
  };
}

function inputSchemaOf(name: string, input: Schema): Json {
  // A caller without types may leave the second half out.
  const standard: Partial<Schema["~standard"]> = input["~standard"];
  if (standard.jsonSchema === undefined) {
    throw new MillraceError(
      "invalid_definition",
      `the input of the tool ${name} can't be told to a model: its schema has no JSON Schema half. Use zod 4.2 or later, or fromJsonSchema of @millrace/agent/json-schema`,
    );
  }
  return jsonSchemaOf(input);
}
