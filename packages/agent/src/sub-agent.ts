import { inputId, sessionId } from "@millrace/core";
import type { Blueprint } from "./loop/host.ts";
import type { Observer } from "./observe/observer.ts";
import type { Schema } from "./schema/schema.ts";
import { sendPrompt } from "./session/create-session.ts";
import { openHost } from "./session/open.ts";
import type { Tool, ToolExecution } from "./tool/tool.ts";

/** Agents that run agents that run agents end here. */
const maxDepth = 8;

export interface AgentTool<Name extends string> {
  readonly agent: Blueprint;
  readonly observers: readonly Observer[];
  readonly name: Name;
  readonly description: string;
}

/**
 * An agent as a tool. Each call is a session of its own in its parent's store, under an id that
 * follows from the call: a call that is taken up again after a crash goes on with that session, so
 * nothing in it is done twice. It spends its parent's budget.
 */
export function agentAsTool<const Name extends string>(
  options: AgentTool<Name>,
): Tool<Name, { readonly prompt: string }, string> {
  return {
    name: options.name,
    description: options.description,
    input: promptSchema,
    inputSchema: promptJsonSchema,
    output: undefined,
    effect: "idempotent",
    sequence: "parallel",
    approve: undefined,
    // Its own limits, and its parent's, end it.
    limits: { seconds: Infinity },
    childSession: (effectKey) => sessionId(`sub_${effectKey}`),
    run: ({ prompt }, execution) => runSubAgent(options, prompt, execution),
  };
}

async function runSubAgent(
  { agent, observers }: AgentTool<string>,
  prompt: string,
  { effectKey, signal, "~host": host, session }: ToolExecution,
): Promise<string> {
  const { store, log, clock, makeId, depth, allowance, ask } = host;
  if (depth > maxDepth) throw new Error(`agents are nested more than ${maxDepth} deep`);
  const id = `sub_${effectKey}`;
  const { metadata } = session;
  const ports = { store, log, clock, makeId, metadata };
  const opened = await openHost({ ...ports, id, agent, observers, ask, allowance, depth });
  try {
    // The same input id each time: the session has the prompt once, however often it is sent.
    const run = sendPrompt(opened.host, prompt, { signal }, inputId(`input_${effectKey}`));
    const result = await run.result;
    if (result.outcome === "completed") return result.text;
    const why = result.outcome === "failed" ? `: ${result.error.message}` : "";
    throw new Error(`the agent ended as ${result.outcome}${why}\n${result.text}`.trim());
  } finally {
    await opened.close();
  }
}

const promptJsonSchema = {
  type: "object",
  properties: {
    prompt: { type: "string", description: "What the agent is to do, with all it needs to know" },
  },
  required: ["prompt"],
  additionalProperties: false,
};

const promptSchema: Schema<{ readonly prompt: string }> = {
  "~standard": {
    version: 1,
    vendor: "millrace",
    validate: (value) =>
      isPrompt(value)
        ? { value }
        : { issues: [{ message: "an object with one string", path: ["prompt"] }] },
    jsonSchema: { input: () => promptJsonSchema, output: () => promptJsonSchema },
  },
};

function isPrompt(value: unknown): value is { readonly prompt: string } {
  return (
    typeof value === "object" &&
    value !== null &&
    "prompt" in value &&
    typeof value.prompt === "string"
  );
}
