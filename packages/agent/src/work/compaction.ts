import { noUsage } from "@millrace/core/writing";
import type { ItemId, RunId, TurnId } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { BodyOf } from "@millrace/core/writing";
import { planCompaction, summaryRequest, summaryText } from "../context/compact.ts";
import type { CompactionPlan } from "../context/compact.ts";
import { compactionsOf } from "../context/context.ts";
import { outputLimits } from "../context/request-of.ts";
import { attempt } from "./attempt.ts";
import { RetryableAttempt, itemFrom } from "./retryable-attempt.ts";
import type { Epochs, WorkHost } from "./host.ts";
import { isLane, openItemLane } from "./item-lane.ts";
import { dropIfFenced, hasFailed } from "./reply.ts";
import { traceOf } from "./request.ts";
import { outputBytesOf, readableItems } from "./tools.ts";

export interface CompactionToDo {
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly signal: AbortSignal;
}

type CompactionFacts = readonly BodyOf<"compaction_finished" | "usage_reported">[];

/**
 * Summarises the oldest items by one request to a model. The summary is stored as an item of its own;
 * the returned facts name the range of items that it replaces in requests. No item is deleted. If there
 * is nothing to summarise, the facts end the compaction without a summary and requests stay as they
 * are. A failed attempt is returned instead of facts: the loop decides about a retry.
 */
export async function compactContext(
  host: WorkHost,
  epochs: Epochs,
  todo: CompactionToDo,
): Promise<CompactionFacts | RetryableAttempt> {
  const { runId, itemId } = todo;
  const { journal } = host;
  const { context } = host.agent;
  // An earlier driver may have stored the summary before it crashed. It must not be summarised itself.
  const known = journal.context.items.toArray().filter((item) => item.id !== itemId);
  const plan = planCompaction(known, compactionsOf(journal.context), context?.keep ?? 8, {
    prompt: journal.runs.get(runId)?.prompt,
    session: readableItems(journal),
    outputBytes: outputLimits(journal.context, outputBytesOf(host.agent)),
    limitTokens: context === undefined ? undefined : Math.floor(context.window / 2),
  });
  const nothing = { type: "compaction_finished", runId } as const;
  if (plan === undefined) return [nothing];
  const summarised = await summarise(host, epochs, todo, plan);
  if (summarised instanceof RetryableAttempt) return summarised;
  const { first, last } = plan;
  return summarised.written
    ? [{ ...nothing, summary: { itemId, first, last } }]
    : [...summarised.used, nothing];
}

interface Summarised {
  /** True if the summary is stored as an item. */
  readonly written: boolean;
  /** Usage that was not stored together with an item. */
  readonly used: readonly BodyOf<"usage_reported">[];
}

async function summarise(
  host: WorkHost,
  epochs: Epochs,
  todo: CompactionToDo,
  plan: CompactionPlan,
): Promise<Summarised | RetryableAttempt> {
  const { runId, turnId, itemId, signal } = todo;
  const model = host.agent.context?.model ?? host.agent.model;
  if (model === undefined) return { written: false, used: [] };
  const place = { runId, turnId, itemId, lane: 0, epoch: epochs.next() };
  const lane = await openItemLane(host, { ...place, author: "agent", model: model.id });
  if (!isLane(lane)) return { written: true, used: [] };
  const summary = summaryRequest(plan, { instructions: host.agent.context?.instructions });
  const request = async (options: object): Promise<ModelRequest> => ({
    ...summary,
    ...traceOf(host, { runId, lane: 0 }),
    ...options,
  });
  const attempted = await attempt(host, model, lane, { signal, request });
  await dropIfFenced(signal, lane);
  if (hasFailed(attempted) && !signal.aborted) {
    return new RetryableAttempt(host, lane, { runId, itemId }, attempted);
  }
  const usage = attempted.usage ?? noUsage;
  const report = { type: "usage_reported", runId, epoch: lane.epoch, usage } as const;
  await host.allowance?.spend(usage);
  const item = itemFrom(lane, itemId, attempted, "agent");
  // A call in a summary would never be answered, so such a reply is not used.
  if (summaryText(item) === undefined || item.parts.some(({ kind }) => kind === "tool_call")) {
    await lane.drop();
    return { written: false, used: [report] };
  }
  await lane.commit(item, { settlement: [report] });
  return { written: true, used: [] };
}
