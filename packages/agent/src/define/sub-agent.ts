import { MillraceError } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { childSessionId, isChildOf } from "@millrace/core/store-kit";
import { inputId } from "@millrace/core/writing";
import type { Blueprint } from "../definition/blueprint.ts";
import { toolLabels } from "../definition/labels.ts";
import type { Observer } from "../definition/observer.ts";
import type { Schema } from "@millrace/core/schema";
import { sendPrompt } from "../session/create-session.ts";
import { openHost } from "../session/open.ts";
import { StoreOutage } from "../work/store-outage.ts";
import type { Opened } from "../session/open.ts";
import { runIdOf } from "../loop/ids.ts";
import type { ToolHost } from "../definition/tool-host.ts";
import type { Tool, ToolExecution } from "../definition/tool.ts";

/** How deep sub-agents may be nested. Ends an agent that calls itself without end. */
const maxDepth = 8;

export interface AgentTool<Name extends string> {
  readonly agent: Blueprint;
  readonly observers: readonly Observer[];
  readonly name: Name;
  readonly description: string;
}

/**
 * Makes a tool of an agent. Each call runs in a session of its own in the parent's store. The id of the
 * session is computed from the call, so a call that is executed again after a crash continues the same
 * session and repeats nothing. The usage counts against the parent's limits.
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
    limits: { seconds: Infinity }, // the limits of the agent and of its parent end it
    // What its tools can do, it can do.
    labels: toolLabels.filter((label) =>
      [...options.agent.tools.values()].some(({ labels }) => labels?.includes(label) === true),
    ),
    childSession: childSessionId,
    abandon: (effectKey, host) => stopSubAgent(options, effectKey, host),
    run: ({ prompt }, execution) => runSubAgent(options, prompt, execution),
  };
}

async function runSubAgent(
  options: AgentTool<string>,
  prompt: string,
  { effectKey, signal, "~host": host }: ToolExecution,
): Promise<string> {
  if (host.depth > maxDepth) throw new Error(`agents are nested more than ${maxDepth} deep`);
  const opened = await openChild(options, effectKey, host);
  const over = new AbortController();
  try {
    const run = sendPrompt(opened.host, prompt, { key: "prompt" });
    // If the parent's session was closed or taken over, only close the child: its next driver continues it.
    const stop = (): void => void (host.left() ? opened.close() : run.abort().accepted);
    signal.addEventListener("abort", stop, { once: true, signal: over.signal });
    if (signal.aborted) stop();
    const result = await run.result;
    if (result.outcome === "completed") return result.text;
    const why = result.outcome === "failed" ? `: ${result.error.message}` : "";
    throw new Error(`the agent ended as ${result.outcome}${why}\n${result.text}`.trim());
  } finally {
    over.abort();
    await opened.close();
  }
}

/** Stops the run of a sub-agent whose call is settled without its result, and waits for its end. */
async function stopSubAgent(
  options: AgentTool<string>,
  effectKey: string,
  host: ToolHost,
): Promise<void> {
  if ((await findChild(effectKey, host)) === undefined) return;
  const { host: child, close } = await openChild(options, effectKey, host);
  try {
    const runId = runIdOf(promptId);
    const stopped = await child.inbox.abort({ runId, reason: "the parent was stopped" });
    if (!stopped.accepted || child.journal.state.run === undefined) return;
    await child.until(() => child.ended(runId));
  } finally {
    await close();
  }
}

/** Opens the session that was made with the intent of the call. Throws `unknown_session` for any other of its name. */
async function openChild(
  { agent, observers }: AgentTool<string>,
  effectKey: string,
  host: ToolHost,
): Promise<Opened> {
  const record = await findChild(effectKey, host);
  const id = childSessionId(effectKey);
  if (record === undefined)
    throw new MillraceError("unknown_session", `the session ${id} was not made by this call`);
  const { store, log, blobs, clock, makeId, random, depth, allowance, ask } = host;
  const ports = { store, log, blobs, clock, makeId, random };
  return openHost({
    ...ports,
    id,
    record,
    agent,
    observers,
    ask,
    allowance,
    depth,
    waits: host.closing,
  });
}

/** The sub-agent's session, if the store has made it for a call of this session. */
async function findChild(
  effectKey: string,
  { store, clock, random, closing: signal, parent }: ToolHost,
): Promise<SessionRecord | undefined> {
  const outage = new StoreOutage({ clock, random, signal });
  const found = await outage.retry(() => store.find(childSessionId(effectKey)));
  return found !== undefined && isChildOf(found, parent) ? found : undefined;
}

/**
 * The id of the prompt, equal in all sub-agents, so that a repeated prompt is stored once. Unique in its
 * session; it does not name the parents, because the ids of nested agents would become too long.
 */
const promptId = inputId("input_prompt");

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
