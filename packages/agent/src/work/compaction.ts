import { noUsage } from "@millrace/core/writing";
import type { ItemId, RunId, TurnId } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { BodyOf } from "@millrace/core/writing";
import { planCompaction, summaryRequest, summaryText } from "../context/compact.ts";
import type { CompactionPlan } from "../context/compact.ts";
import { attempt } from "./attempt.ts";
import { HeldAttempt, itemFrom } from "./held-attempt.ts";
import type { Epochs, WorkHost } from "./host.ts";
import { isLane, openItemLane } from "./item-lane.ts";
import { dropIfFenced, hasFailed } from "./reply.ts";
import { traceOf } from "./request.ts";
import { outputBytesOf } from "./tools.ts";

export interface CompactionToDo {
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly signal: AbortSignal;
}

type CompactionFacts = readonly BodyOf<"compaction_finished" | "usage_reported">[];

/**
 * Has the oldest items summarised, by one request, and gives the facts that say which item stands for
 * which now: without a summary if there is nothing to summarise, so that the old context is used on.
 * An attempt that failed is handed back: the loop decides whether another one follows. Deletes nothing.
 */
export async function compactContext(
  host: WorkHost,
  epochs: Epochs,
  todo: CompactionToDo,
): Promise<CompactionFacts | HeldAttempt> {
  const { runId, itemId } = todo;
  const { items, compactions } = host.journal.state;
  const { context } = host.agent;
  // A compaction that an earlier driver began may have its summary already, at the end of the items.
  const known = items.toArray().filter((item) => item.id !== itemId);
  const plan = planCompaction(known, compactions, context?.keep ?? 8, {
    prompt: promptOf(host, runId),
    outputBytes: outputBytesOf(host.agent),
    limitTokens: context === undefined ? undefined : Math.floor(context.window / 2),
  });
  const nothing = { type: "compaction_finished", runId } as const;
  if (plan === undefined) return [nothing];
  const summarised = await summarise(host, epochs, todo, plan);
  if (summarised instanceof HeldAttempt) return summarised;
  const { first, last } = plan;
  return summarised.written
    ? [{ ...nothing, summary: { itemId, first, last } }]
    : [...summarised.used, nothing];
}

/** The item that began the run. */
function promptOf({ journal }: WorkHost, runId: RunId): ItemId | undefined {
  const fact = journal.facts.find(
    (one) => one.type === "item_committed" && one.runId === runId && one.inputId !== undefined,
  );
  return fact?.type === "item_committed" ? fact.item.id : undefined;
}

interface Summarised {
  /** True once the summary is an item. */
  readonly written: boolean;
  /** What no item tells of. */
  readonly used: readonly BodyOf<"usage_reported">[];
}

async function summarise(
  host: WorkHost,
  epochs: Epochs,
  todo: CompactionToDo,
  plan: CompactionPlan,
): Promise<Summarised | HeldAttempt> {
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
    return new HeldAttempt(host, lane, { runId, itemId }, attempted);
  }
  const usage = attempted.usage ?? noUsage;
  const report = { type: "usage_reported", runId, epoch: lane.epoch, usage } as const;
  await host.allowance?.spend(usage);
  const item = itemFrom(lane, itemId, attempted, "agent");
  // A call in a summary would never be answered, so a reply with one is none.
  if (summaryText(item) === undefined || item.parts.some(({ kind }) => kind === "tool_call")) {
    await lane.drop();
    return { written: false, used: [report] };
  }
  await lane.commit(item, { settlement: [report] });
  return { written: true, used: [] };
}
