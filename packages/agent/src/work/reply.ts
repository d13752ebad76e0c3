import { MillraceError } from "@millrace/core";
import { noUsage } from "@millrace/core/writing";
import type { ItemId, RunId, TurnId, Usage } from "@millrace/core";
import type { Epoch, ModelRequest } from "@millrace/core/ports";
import type { BodyOf, FactBody } from "@millrace/core/writing";
import { dueNotices, watchAfter } from "../context/notices.ts";
import type { Blueprint } from "../definition/blueprint.ts";
import { attempt } from "./attempt.ts";
import type { Attempted, RequestOptions } from "./attempt.ts";
import { RetryableAttempt, itemFrom } from "./retryable-attempt.ts";
import { Fenced } from "./host.ts";
import type { Epochs, WorkHost } from "./host.ts";
import { isLane, openItemLane } from "./item-lane.ts";
import type { Ahead, ItemLane } from "./item-lane.ts";
import { requestFor } from "./request.ts";
import type { SentPrefix } from "./sent-prefix.ts";

export interface ReplyToGet {
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly signal: AbortSignal;
  /** Stores what the request goes by, if no fact has it yet. */
  readonly guide: () => Promise<void>;
  readonly sent: SentPrefix;
  readonly report: (facts: readonly FactBody[]) => Promise<void>;
  /** Called with the names of the tools in the request, before it is sent. */
  readonly offered: (names: readonly string[]) => void;
  /** The lane, if the driver has opened it together with the turn. */
  readonly opened?: OpenedLane | undefined;
  readonly ahead?: Ahead | undefined;
}

/** A lane that the driver has opened for an item: its epoch, and the head of the session then. */
export interface OpenedLane {
  readonly itemId: ItemId;
  readonly epoch: Epoch;
  readonly head: number;
}

/**
 * Sends one request to the model and stores its reply with the usage. A failed attempt is not stored
 * but returned: the loop decides about a retry. A reply that was stopped is stored as aborted with the
 * content so far. Throws `Fenced` if another driver took the session.
 */
export async function getReply(
  host: WorkHost,
  epochs: Epochs,
  wanted: ReplyToGet,
): Promise<RetryableAttempt | undefined> {
  const { runId, turnId, itemId, signal, opened, ahead } = wanted;
  const { model } = host.agent;
  if (model === undefined) {
    throw new MillraceError("invalid_definition", "an agent without a model was asked for a reply");
  }
  const epoch = opened?.epoch ?? epochs.next();
  const place = { runId, turnId, itemId, lane: 0, epoch, openedAt: opened?.head };
  const lane = await openItemLane(host, { ...place, author: "model", model: model.id });
  if (!isLane(lane)) return undefined; // an earlier attempt stored it
  const request = async (options: RequestOptions): Promise<ModelRequest> => {
    await wanted.guide();
    const made = await requestFor(host, wanted, options);
    wanted.offered(toolNames(made));
    return made;
  };
  const attempted = priced(host.agent, await attempt(host, model, lane, { signal, request }));
  await dropIfFenced(signal, lane);
  if (hasFailed(attempted) && !signal.aborted) {
    return new RetryableAttempt(host, lane, { runId, turnId, itemId }, attempted);
  }
  const usage = attempted.usage ?? noUsage;
  const report = { type: "usage_reported", runId, turnId, epoch: lane.epoch, usage } as const;
  // Before the item, which may end the run.
  const notices = noticesOf(host, report, attempted);
  if (notices.length > 0 && !signal.aborted) await wanted.report(notices);
  const settlement = { settlement: [report], ahead: signal.aborted ? undefined : ahead };
  await lane.commit(itemFrom(lane, itemId, attempted), settlement);
  wanted.sent.keep();
  await host.allowance?.spend(usage);
  return undefined;
}

/** What the reply shows that its developer should look at, once in a session for each code. */
function noticesOf(
  { journal, store }: WorkHost,
  report: BodyOf<"usage_reported">,
  { remarks = [] }: Attempted,
): readonly FactBody[] {
  const { watch, breaks } = journal.context.guide;
  const { runId, usage, turnId } = report;
  const after = watchAfter(
    watch,
    { type: "usage_reported", usage, turnId, time: store.now() },
    breaks,
  );
  const remarked = remarks.filter(
    ({ code }, at) =>
      !watch.given.includes(code) && remarks.findIndex((one) => one.code === code) === at,
  );
  return [
    ...dueNotices(after, runId),
    ...remarked.map(({ code, message }): FactBody => ({ type: "notice", runId, code, message })),
  ];
}

/** The names of the tools that a model may call after all updates. */
function toolNames({ tools = [], updates = [] }: ModelRequest): readonly string[] {
  const names = new Set(tools.map(({ name }) => name));
  for (const { added = [], removed = [] } of updates) {
    for (const { name } of added) names.add(name);
    for (const name of removed) names.delete(name);
  }
  return [...names];
}

/** Drops the lane and throws if the work was aborted because its session was taken over or closed. */
export async function dropIfFenced({ reason }: AbortSignal, lane: ItemLane): Promise<void> {
  if (!(reason instanceof Fenced)) return;
  await lane.drop();
  throw reason;
}

export function hasFailed({ ending }: Attempted): boolean {
  return ending.stop === "failed" || ending.stop === "truncated";
}

function priced({ price }: Blueprint, attempted: Attempted): Attempted {
  const { usage, model } = attempted;
  if (usage === undefined || usage.cost !== undefined || price === undefined) return attempted;
  return { ...attempted, usage: withCost(usage, () => price(usage, model)) };
}

/** Adds the cost. It stays unknown if `price` throws or returns no finite number. */
function withCost(usage: Usage, price: () => number | undefined): Usage {
  try {
    const cost = price();
    return cost === undefined || !Number.isFinite(cost) ? usage : { ...usage, cost };
  } catch {
    return usage;
  }
}
