import type { CallId, Json, SessionId } from "@millrace/core";
import type { VendorTool } from "@millrace/core/model";
import type { Metadata } from "@millrace/core/writing";
import type { ToolShape } from "@millrace/core/reading";
import type { Schema, SchemaInput, SchemaOutput } from "@millrace/core/schema";
import { jsonSchemaOf } from "@millrace/core/schema";
import type { ToolLabel } from "./labels.ts";
import { checkTool } from "./check-tool.ts";
import type { ToolHost } from "./tool-host.ts";

/**
 * Whether a call may be executed again if its process ended before the outcome was stored. `pure`: yes,
 * it changes nothing. `idempotent`: yes, under the same effect key. `effectful`: never; the model gets
 * the status `unknown`.
 */
export type Effect = "pure" | "idempotent" | "effectful";

/** Whether a call may run. `ask`: a person decides. */
export type Policy = "allow" | "ask" | "deny";

/** What tools, hooks and policies get of the session. */
export interface SessionInfo {
  readonly id: SessionId;
  /** The tenant in whose store the session is. `default` for a store without tenants. */
  readonly tenant: string;
  /** The owner of the session, else the `user` of the metadata, else `local`. No proof of who sends: that is the actor of a fact. */
  readonly user: string;
  /** As the session was created with, by the process that opened it first. */
  readonly metadata: Metadata;
}

/** What a tool's function gets of its execution. All functions are bound. */
export interface ToolExecution {
  readonly callId: CallId;
  /** An idempotency key: equal for all executions of this call, and different for every other call. */
  readonly effectKey: string;
  readonly session: SessionInfo;
  /** Publishes a progress message. Viewers show the latest only. Ignored after the call has its result. */
  readonly progress: (update: { readonly message: string }) => void;
  /**
   * Streams output text, with which the text of the result begins; what the tool returns follows it.
   * Ignored after the call has its result.
   */
  readonly append: (text: string) => void;
  /**
   * Adds an image, a sound, a film or a file to the result; the model gets it beside the text. Ignored
   * after the call has its result.
   */
  readonly attach: (attachment: ToolAttachment) => void;
  /** Aborted when the run is stopped, or a limit of the run or of the tool is reached. */
  readonly signal: AbortSignal;
  /** For tools that run sub-agents. Internal: it may change. */
  readonly "~host": ToolHost;
}

/** What a tool adds to its result beside the text. */
export interface ToolAttachment {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** The name of a file. Left out: `file-1` and so on. Images, sounds and films have none. */
  readonly name?: string | undefined;
}

/** Limits of one tool, for each of its calls. */
export interface ToolLimits {
  /** After this time the signal is aborted, and soon after that the call fails. 120 if left out. */
  readonly seconds?: number | undefined;
  /** The most UTF-8 bytes of a result in a request. A longer one is cut to its head and tail. */
  readonly outputBytes?: number | undefined;
  /** How often the same call may come in a row. Raise it for tools that poll. */
  readonly repeats?: number | undefined;
}

/**
 * A tool that a model may call. Made by `defineTool`. `In` is what its schema accepts and `Parsed` what
 * the schema makes of it; `Out` is what it returns, after its output schema. Events, views and questions
 * have `In` and `Out` as JSON.
 */
export interface Tool<
  Name extends string = string,
  In = never,
  Out = unknown,
  Parsed = In,
> extends ToolShape<Name, In, Out> {
  readonly description: string | undefined;
  readonly input: Schema;
  /** The JSON Schema of the input, as requests to the model have it. */
  readonly inputSchema: Json;
  readonly output: Schema | undefined;
  readonly effect: Effect;
  /** `alone`: no other call runs at the same time. */
  readonly sequence: "parallel" | "alone";
  readonly approve:
    | Policy
    | ((input: Parsed, session: SessionInfo) => Policy | Promise<Policy>)
    | undefined;
  readonly limits: ToolLimits;
  /** What it can do that is dangerous together. Left out: none of it. */
  readonly labels?: readonly ToolLabel[] | undefined;
  /** The task queue of the workers that can run it. Left out: every worker can. */
  readonly queue?: string | undefined;
  /** That it is a tool which vendors define. Left out: an ordinary function. */
  readonly vendor?: VendorTool | undefined;
  /** The id of the session that an execution runs, for a sub-agent. */
  readonly childSession?: ((effectKey: string) => SessionId) | undefined;
  /** Stops work of a lost execution that may still be running, such as a sub-agent's session. */
  readonly abandon?: ((effectKey: string, host: ToolHost) => Promise<void>) | undefined;
  readonly run: ((input: Parsed, execution: ToolExecution) => unknown) | "client";
}

/** The settings of `defineTool`. `Out` is what the output schema makes of what `run` returns. */
export interface ToolDefinition<
  Name extends string,
  S extends Schema<object, unknown>,
  Returned,
  Out = Returned,
> {
  readonly name: Name;
  readonly description?: string | undefined;
  readonly input: S;
  /** Checks what the tool returns; what it makes of it is the output. Required if clients answer its calls. */
  readonly output?: Schema<Returned, Out> | undefined;
  /** Left out: `effectful`, which never repeats a call. For a tool of clients: `idempotent`. */
  readonly effect?: Effect | undefined;
  /** Left out: `parallel`. */
  readonly sequence?: "parallel" | "alone" | undefined;
  /** Left out: `allow`. The strictest of this, the agent's rules and its hook counts. */
  readonly approve?:
    | Policy
    | ((input: SchemaOutput<S>, session: SessionInfo) => Policy | Promise<Policy>)
    | undefined;
  readonly limits?: ToolLimits | undefined;
  /**
   * What the tool can do that is dangerous together: once a session has all three labels, each call of a
   * tool with one is asked for. Left out: none of it.
   */
  readonly labels?: readonly ToolLabel[] | undefined;
  /**
   * The task queue of the workers that have what the tool needs, such as a GPU or a secret. Only an engine
   * looks at it, such as Temporal: a session that is driven in this process runs the tool here. Left out:
   * every worker can run it.
   */
  readonly queue?: string | undefined;
  /**
   * That it is a tool which vendors define, and its settings. Its input then has the form that this kind
   * of tool has; `@millrace/agent/tools` has a function for each. Left out: an ordinary function.
   */
  readonly vendor?: VendorTool | undefined;
  /**
   * Gets what the schema made of the model's input. What it returns reaches the model after what it
   * appended, and programs as `JsonOf` it. If JSON can't hold that, the call fails.
   * `client`: a client of the session answers the call by `session.answer`.
   */
  readonly run:
    | ((input: SchemaOutput<S>, execution: ToolExecution) => Returned | Promise<Returned>)
    | "client";
}

/** A tool with any input and output. */
export type AnyTool = Tool;

/** Defines a tool. Throws `invalid_definition` for a definition that can't work. */
export function defineTool<
  const Name extends string,
  S extends Schema<object, unknown>,
  Returned,
  Out = Returned,
>(
  definition: ToolDefinition<Name, S, Returned, Out>,
): Tool<Name, SchemaInput<S>, Out, SchemaOutput<S>> {
  checkTool(definition, defineTool);
  const { name, input, output, run, labels = [] } = definition;
  return {
    name,
    description: definition.description,
    input,
    inputSchema: jsonSchemaOf(input),
    output,
    // Waiting for a client's answer again after a crash repeats nothing.
    effect: definition.effect ?? (run === "client" ? "idempotent" : "effectful"),
    sequence: definition.sequence ?? "parallel",
    approve: definition.approve,
    limits: definition.limits ?? {},
    labels,
    queue: definition.queue,
    ...(definition.vendor === undefined ? {} : { vendor: definition.vendor }),
    run,
  };
}
