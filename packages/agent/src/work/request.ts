import type { RunId } from "@millrace/core";
import { partsWithBytes } from "@millrace/core/blobs";
import type { ModelRequest } from "@millrace/core/ports";
import { requestOf } from "../context/request-of.ts";
import type { TracedRequest } from "../definition/settings.ts";
import type { RequestOptions } from "./attempt.ts";
import type { WorkHost } from "./host.ts";
import { outputBytesOf, readableItems } from "./tools.ts";

/**
 * Builds the request of a reply by the facts, with the changes of the `beforeReply` hook. Rejects if the
 * hook throws.
 */
export async function requestFor(
  host: WorkHost,
  runId: RunId,
  options: RequestOptions,
): Promise<ModelRequest> {
  const { agent, info, journal, conversationKey: key } = host;
  const { appends, bindsReasoning = false } = agent.model ?? {};
  const content = requestOf(
    {
      context: journal.context,
      session: readableItems(journal),
      outputBytes: outputBytesOf(agent),
    },
    { appends, outputInWords: bindsReasoning && !host.runsOnce },
  );
  const isSingle = host.runsOnce && content.tools === undefined;
  const request: ModelRequest = {
    ...content,
    conversation: { key, isSingle },
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
