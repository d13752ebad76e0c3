import { noUsage } from "@millrace/core";
import type { BodyOf, ItemId, ModelRequest, RunId, TurnId } from "@millrace/core";
import { planCompaction, summaryRequest, summaryText } from "../context/compact.ts";
import type { CompactionPlan } from "../context/compact.ts";
import { Fenced } from "./host.ts";
import type { Epochs, Host } from "./host.ts";
import { isLane, openItemLane } from "./lane.ts";
import { attempt } from "./reply.ts";
import { outputBytesOf } from "./tools.ts";

export interface CompactionToDo {
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly signal: AbortSignal;
}

/**
 * Has the oldest items summarised, and says which item stands for which now. Nothing if it failed or
 * there is nothing to summarise: the old context is used on. Deletes nothing. What it used stands
 * with the summary, or comes back with the rest if there is none.
 */
export async function compactContext(
  host: Host,
  epochs: Epochs,
  todo: CompactionToDo,
): Promise<readonly BodyOf<"compaction_finished" | "usage_reported">[]> {
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
  const { written, used } = await summarise(host, epochs, todo, plan);
  const { first, last } = plan;
  return written ? [{ ...nothing, summary: { itemId, first, last } }] : [...used, nothing];
}

/** The item that began the run. */
function promptOf({ journal }: Host, runId: RunId): ItemId | undefined {
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
  host: Host,
  epochs: Epochs,
  todo: CompactionToDo,
  plan: CompactionPlan,
): Promise<Summarised> {
  const { runId, turnId, itemId, signal } = todo;
  const model = host.agent.context?.model ?? host.agent.model;
  if (model === undefined) return { written: false, used: [] };
  const place = { runId, turnId, itemId, lane: 0, epoch: epochs.next() };
  const opened = await openItemLane(host, { ...place, author: "agent", model: model.id });
  if (!isLane(opened)) return { written: true, used: [] };
  const summary = summaryRequest(plan, { instructions: host.agent.context?.instructions });
  const request = async (options: object): Promise<ModelRequest> => ({ ...summary, ...options });
  const reply = await attempt(host, model, opened, { signal, request });
  if (signal.reason instanceof Fenced) {
    await opened.drop();
    throw signal.reason;
  }
  const usage = reply.usage ?? noUsage;
  const report = { type: "usage_reported", runId, epoch: opened.epoch, usage } as const;
  await host.allowance?.spend(usage);
  // A call in a summary would never be answered, so a reply with one is none.
  if (summaryText(reply) === undefined || reply.parts.some(({ kind }) => kind === "tool_call")) {
    await opened.drop();
    return { written: false, used: [report] };
  }
  await opened.commit({ id: itemId, author: "agent", ...reply }, { settlement: [report] });
  return { written: true, used: [] };
}
