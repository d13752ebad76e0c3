import type { RunId } from "@millrace/core";
import { partsWithBytes } from "@millrace/core/blobs";
import type { ModelRequest } from "@millrace/core/ports";
import { assemble } from "../context/assemble.ts";
import { compactionsOf } from "../context/context.ts";
import type { TracedRequest } from "../definition/settings.ts";
import type { RequestOptions } from "./attempt.ts";
import type { WorkHost } from "./host.ts";
import { offeredTools, outputBytesOf, readableItems } from "./tools.ts";
import { answerSchemaOf } from "@millrace/core/schema";

/**
 * Builds the request of a reply: the transcript with trimmed outputs and legal call pairs, the agent's
 * instructions and tools, the output schema, and the changes of the `beforeReply` hook. Rejects if the
 * agent's instructions function or hook throws.
 */
export async function requestFor(
  host: WorkHost,
  runId: RunId,
  options: RequestOptions,
): Promise<ModelRequest> {
  const { agent, info, journal } = host;
  const { context } = journal;
  const { transcript, trimmed } = assemble(context.items.toArray(), {
    compactions: compactionsOf(context),
    session: readableItems(journal),
    outputBytes: outputBytesOf(agent),
  });
  const { instructions } = agent;
  const system = typeof instructions === "function" ? await instructions(info) : instructions;
  const tools = offeredTools(agent, trimmed);
  const { output } = host.runOptions(runId);
  // A driver that took the run over has only the JSON Schema that was stored with the run's input.
  const schema = output === undefined ? journal.runs.get(runId)?.output : answerSchemaOf(output);
  const request: ModelRequest = {
    transcript,
    ...(system === undefined ? {} : { instructions: system }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(schema === undefined ? {} : { output: { name: "answer", schema } }),
    conversation: { key: host.conversationKey, isSingle: host.runsOnce && tools.length === 0 },
    ...traceOf(host, { runId, lane: 0 }),
    ...options,
  };
  const hooked = (await agent.hooks.beforeReply?.(request, info)) ?? request;
  const changed = await withBytes(host, hooked);
  // A hook may not change the signal, or turn on retries and stall clocks of the provider.
  return { ...changed, ...options };
}

/** How often a blob store that fails is asked, and the first pause between, which doubles. */
const tries = 4;
const firstPauseMs = 250;

/**
 * The request with the bytes of its blobs, after the hook: it sees what is stored. A part whose blob is
 * gone becomes a text, with a remark. Rejects if the blob store fails again and again.
 */
async function withBytes(host: WorkHost, request: ModelRequest): Promise<ModelRequest> {
  for (let tried = 1; ; tried += 1) {
    try {
      const { transcript, missing } = await partsWithBytes(
        host.blobs,
        host.blobScope,
        request.transcript,
      );
      for (const part of missing) {
        const name = part.kind === "file" ? `the file ${JSON.stringify(part.name)}` : "media";
        const message = `${name} is left out of the request: its blob is not there`;
        request.notify?.({
          type: "remark",
          code: "left_out",
          message,
          evidence: { partId: part.id },
        });
      }
      return transcript === request.transcript ? request : { ...request, transcript };
    } catch (error) {
      if (tried >= tries || request.signal?.aborted === true) throw error;
      await host.clock.sleep(firstPauseMs * 2 ** (tried - 1), request.signal);
    }
  }
}

/** The trace context of a run, or of the reply in a lane. None if the agent's `trace` throws. */
export function traceOf(
  { agent, sessionId }: Pick<WorkHost, "agent" | "sessionId">,
  place: Omit<TracedRequest, "sessionId">,
): Pick<ModelRequest, "trace"> {
  try {
    const trace = agent.trace?.({ sessionId, ...place });
    return trace === undefined ? {} : { trace };
  } catch {
    return {};
  }
}
