import type { ModelRequest, RunId } from "@millrace/core";
import { assemble } from "../context/assemble.ts";
import type { Host } from "./host.ts";
import { offeredTools, outputBytesOf } from "./tools.ts";
import { answerSchemaOf } from "../schema/schema.ts";

/**
 * What the model is asked: the transcript made to fit and to be legal, the agent's instructions and
 * tools, and whatever the hook makes of it. Throws what the agent's own code throws.
 */
export async function requestFor(
  host: Host,
  runId: RunId,
  options: Pick<ModelRequest, "signal" | "notify">,
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
  const schema =
    output === undefined ? journal.standing.run?.options?.["output"] : answerSchemaOf(output);
  const request: ModelRequest = {
    transcript,
    ...(told === undefined ? {} : { instructions: told }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(schema === undefined ? {} : { output: { name: "answer", schema } }),
    ...options,
  };
  const changed = (await agent.hooks.beforeReply?.(request, info)) ?? request;
  // A hook may change what is asked, not how it is stopped and watched.
  return { ...changed, ...options };
}
