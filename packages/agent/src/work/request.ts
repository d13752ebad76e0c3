import type { Json, RunId } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { assemble } from "../context/assemble.ts";
import { runIdOf } from "../loop/ids.ts";
import type { TracePlace } from "../definition/settings.ts";
import type { RequestOptions } from "./attempt.ts";
import type { WorkHost } from "./host.ts";
import { offeredTools, outputBytesOf } from "./tools.ts";
import { answerSchemaOf } from "../schema/schema.ts";

/**
 * What the model is asked: the transcript made to fit and to be legal, the agent's instructions and
 * tools, and whatever the hook makes of it. Throws what the agent's own code throws.
 */
export async function requestFor(
  host: WorkHost,
  runId: RunId,
  options: RequestOptions,
): Promise<ModelRequest> {
  const { agent, info, journal } = host;
  const { items, compactions } = journal.state;
  const { transcript, trimmed } = assemble(items.toArray(), {
    compactions,
    outputBytes: outputBytesOf(agent),
  });
  const { instructions } = agent;
  const told = typeof instructions === "function" ? await instructions(info) : instructions;
  const tools = offeredTools(agent, trimmed);
  const { output } = host.wishes(runId);
  const schema = output === undefined ? storedOutput(host, runId) : answerSchemaOf(output);
  const request: ModelRequest = {
    transcript,
    ...(told === undefined ? {} : { instructions: told }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(schema === undefined ? {} : { output: { name: "answer", schema } }),
    ...traceOf(host, { runId, lane: 0 }),
    ...options,
  };
  const changed = (await agent.hooks.beforeReply?.(request, info)) ?? request;
  // A hook may change what is asked, not how it is stopped and watched.
  return { ...changed, ...options };
}

/** The span of a run, or of the reply in one of its lanes. A trace that can't be had fails no request. */
export function traceOf(
  { agent, sessionId }: Pick<WorkHost, "agent" | "sessionId">,
  place: Omit<TracePlace, "sessionId">,
): Pick<ModelRequest, "trace"> {
  try {
    const trace = agent.trace?.({ sessionId, ...place });
    return trace === undefined ? {} : { trace };
  } catch {
    return {};
  }
}

/** The shape that the run's sender stored with its input: all that a driver who takes over knows of it. */
function storedOutput({ journal }: WorkHost, runId: RunId): Json | undefined {
  for (let at = journal.facts.length - 1; at >= 0; at -= 1) {
    const fact = journal.facts[at];
    if (fact?.type !== "input_accepted" || runIdOf(fact.inputId) !== runId) continue;
    return "options" in fact.input ? fact.input.options?.["output"] : undefined;
  }
  return undefined;
}
