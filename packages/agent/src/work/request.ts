import type { RunId } from "@millrace/core";
import { partsWithBytes } from "@millrace/core/blobs";
import type { WithBytes } from "@millrace/core/blobs";
import type { ModelRequest } from "@millrace/core/ports";
import type { FactBody } from "@millrace/core/writing";
import { requestOf } from "../context/request-of.ts";
import type { RequestContent } from "../context/request-of.ts";
import type { TracedRequest } from "../definition/settings.ts";
import type { RequestOptions } from "./attempt.ts";
import type { WorkHost } from "./host.ts";
import { lostPartFacts } from "./lost-parts.ts";
import type { SentPrefix } from "./sent-prefix.ts";
import { outputBytesOf, readableItems } from "./tools.ts";

export interface RequestPlace {
  readonly runId: RunId;
  /** What the driver has sent before in this session. */
  readonly sent: SentPrefix;
  readonly report: (facts: readonly FactBody[]) => Promise<void>;
}

/**
 * Builds the request of a reply by the facts, with the changes of the `beforeReply` hook. What no longer
 * is as it was sent before is stored, so that people can see why a vendor's cache is missed. Rejects if the
 * hook throws.
 */
export async function requestFor(
  host: WorkHost,
  place: RequestPlace,
  options: RequestOptions,
): Promise<ModelRequest> {
  const { runId, sent, report } = place;
  const { agent, info, journal, conversationKey: key } = host;
  const content = contentOf(host);
  const isSingle = host.runsOnce && content.tools === undefined;
  const request: ModelRequest = {
    ...content,
    conversation: { key, isSingle },
    ...traceOf(host, { runId, lane: 0 }),
    ...options,
  };
  const hooked = (await agent.hooks.beforeReply?.(request, info)) ?? request;
  const change = sent.changeIn(hooked, journal.context.guide.breaks);
  if (change !== undefined) {
    const reason = `${change} changed before the latest reply`;
    await report([{ type: "prefix_broken", runId, reason }]);
  }
  const { request: changed, missing } = await withBytes(host, hooked);
  const lost = lostPartFacts(host, runId, missing, changed.transcript);
  if (lost.length > 0) {
    await report(lost);
    return await requestFor(host, place, options);
  }
  sent.sends(hooked, journal.context.guide.breaks);
  // A hook may not change the signal, or turn on retries and stall clocks of the provider.
  return { ...changed, ...options, ...bothNotified(changed, options) };
}

/** Notices go to the loop, and to a listener that a hook has added. */
function bothNotified(
  { notify: added }: ModelRequest,
  { notify: own }: RequestOptions,
): Pick<ModelRequest, "notify"> {
  if (added === undefined || added === own) return {};
  return {
    notify: (notice) => {
      own?.(notice);
      added(notice);
    },
  };
}

/** What the facts make of a request to the agent's model. */
export function contentOf({ agent, journal, runsOnce }: WorkHost): RequestContent {
  const { appends, bindsReasoning = false } = agent.model ?? {};
  return requestOf(
    {
      context: journal.context,
      session: readableItems(journal),
      outputBytes: outputBytesOf(agent),
    },
    { appends, outputInWords: bindsReasoning && !runsOnce },
  );
}

/** How often a blob store that fails is asked, and the first pause between, which doubles. */
const tries = 4;
const firstPauseMs = 250;

/**
 * The request with the bytes of its blobs, after the hook: it sees what is stored. A part whose blob is
 * gone becomes a text, with a remark. Rejects if the blob store fails again and again.
 */
export async function withBytes(
  host: WorkHost,
  request: ModelRequest,
): Promise<Pick<WithBytes, "missing"> & { readonly request: ModelRequest }> {
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
      const isSame = transcript === request.transcript;
      return { request: isSame ? request : { ...request, transcript }, missing };
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
