import { noUsage } from "@millrace/core/writing";
import type { Item, ItemId, Json, Model, RunId, TurnId, Usage } from "@millrace/core";
import type { Epoch, ModelRequest } from "@millrace/core/ports";
import type { BodyOf } from "@millrace/core/writing";
import {
  planCompaction,
  summaryQuestion,
  summaryRequest,
  summaryText,
} from "../context/compact.ts";
import type { CompactionPlan } from "../context/compact.ts";
import { compactionsOf } from "../context/context.ts";
import { changesBehind, hasChanged } from "../context/guide.ts";
import { signedSummary } from "../context/summary.ts";
import { outputLimits, turnToGoOnId } from "../context/request-of.ts";
import { isTooLong } from "../loop/limits.ts";
import { attempt } from "./attempt.ts";
import { RetryableAttempt, itemFrom } from "./retryable-attempt.ts";
import type { Epochs, Journal, WorkHost } from "./host.ts";
import { isLane, openItemLane } from "./item-lane.ts";
import { dropIfFenced, hasFailed } from "./reply.ts";
import { contentOf, traceOf, withBytes } from "./request.ts";
import { outputBytesOf, readableItems } from "./tools.ts";

export interface CompactionToDo {
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly signal: AbortSignal;
}

type CompactionFacts = readonly BodyOf<"compaction_finished" | "usage_reported" | "guidance_set">[];

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
    leastTokens: leastOf(host),
  });
  const nothing = { type: "compaction_finished", runId } as const;
  if (plan === undefined) return [nothing];
  const summarised = await summarise(host, epochs, todo, plan);
  if (summarised instanceof RetryableAttempt) return summarised;
  const { first, last } = plan;
  return summarised.written
    ? [
        ...summarised.used,
        { ...nothing, summary: { itemId, first, last } },
        ...saidAgain(host, todo),
      ]
    : [...summarised.used, nothing];
}

/** A signed summary keeps the beginning of requests, so changes that it covers have to be made again. */
function saidAgain(
  { journal }: WorkHost,
  { runId, turnId, itemId }: CompactionToDo,
): readonly BodyOf<"guidance_set">[] {
  const { guide } = journal.context;
  const newest = guide.stages.at(-1);
  if (guide.written?.itemId !== itemId || newest === undefined || !hasChanged(guide)) return [];
  const { instructions = null, tools } = newest;
  // Tools are plain data.
  const guidance = { instructions, tools: tools as unknown as Json };
  return [{ type: "guidance_set", runId, turnId, guidance }];
}

interface Summarised {
  /** True if the summary is stored as an item. */
  readonly written: boolean;
  /** Usage that was not stored together with an item. */
  readonly used: readonly BodyOf<"usage_reported">[];
}

/**
 * Asks for the summary behind the session's own request, which the vendor has in its cache. Where that is not
 * possible, or the reply is no summary, by the record of the range: a shorter request that belongs to no
 * vendor.
 */
async function summarise(
  host: WorkHost,
  epochs: Epochs,
  todo: CompactionToDo,
  plan: CompactionPlan,
): Promise<Summarised | RetryableAttempt> {
  const { model = host.agent.model, instructions } = host.agent.context ?? {};
  if (model === undefined) return { written: false, used: [] };
  const byRecord = summaryRequest(plan, { instructions });
  const asked = { host, epochs, todo, model };
  const signed = signedRequest(host, plan);
  if (signed !== undefined) {
    const made = await ask(asked, async (signal) => {
      const { request } = await withBytes(host, { ...signed, signal });
      return request;
    });
    if (isSettled(todo, made)) return made;
    return await instead(asked, made, byRecord);
  }
  if (!mayAskInPlace(host)) return await ask(asked, async () => byRecord);
  const inPlace = await ask(asked, async (signal) => {
    const content = contentOf(host);
    const transcript = [...content.transcript, summaryQuestion({ instructions })];
    const { request } = await withBytes(host, { ...content, transcript, signal });
    return { ...request, conversation: { key: host.conversationKey } };
  });
  return isSettled(todo, inPlace) ? inPlace : await instead(asked, inPlace, byRecord);
}

/** Whether there is a summary, or another attempt may bring one, or none is wanted any more. */
function isSettled({ signal }: CompactionToDo, made: Summarised | RetryableAttempt): boolean {
  if (signal.aborted) return true;
  return made instanceof RetryableAttempt ? made.cause.retryable === true : made.written;
}

/** Asks by the record, after a request that brought no summary. */
async function instead(
  asked: Asked,
  made: Summarised | RetryableAttempt,
  byRecord: ModelRequest,
): Promise<Summarised | RetryableAttempt> {
  const isFailed = made instanceof RetryableAttempt;
  if (isFailed) await made.drop();
  const used = isFailed ? [reportOf(asked.todo, made)] : made.used;
  const second = await ask(asked, async () => byRecord);
  return second instanceof RetryableAttempt
    ? second
    : { ...second, used: [...used, ...second.used] };
}

/**
 * The request for a summary that the vendor signs: the session's own up to the end of the range, which has to
 * begin with the session. Undefined if that is not so, if the model writes none, or if instructions or tools
 * change behind the range: such a change would have to be kept, and made anew, at once.
 */
function signedRequest(host: WorkHost, { first, last }: CompactionPlan): ModelRequest | undefined {
  const { agent, journal, conversationKey: key } = host;
  const { context: settings, model } = agent;
  if (model?.summarises !== true || settings?.compaction === "own" || !mayAskInPlace(host))
    return undefined;
  const { output: _, ...content } = contentOf(host);
  const { transcript } = content;
  const at = transcript.findLastIndex(({ id }) => id === last);
  if (at < 0 || transcript[0]?.id !== first) return undefined;
  const end = transcript[at + 1]?.id === turnToGoOnId(last) ? at + 1 : at;
  const [covered, behind] = [sideOf(transcript[end]), sideOf(transcript[end + 1])];
  // Two items of one side are one message, or have a turn between them that would be on neither side.
  const isBorder = covered !== undefined && behind !== undefined && covered !== behind;
  const kept = new Set(transcript.slice(end + 1).map(({ id }) => id));
  if (!isBorder || changesBehind(journal.context.guide, kept)) return undefined;
  return {
    ...content,
    transcript: transcript.slice(0, end + 1),
    updates: content.updates?.filter(({ after }) => !kept.has(after)),
    conversation: { key },
    summarise: { instructions: settings?.instructions },
  };
}

/**
 * Whose message an item is in a request; behind the last one the user's comes. Undefined if a request may leave
 * the item out, as it does a reply that was stopped while the model thought.
 */
function sideOf(item: Item | undefined): "model" | "user" | undefined {
  if (item === undefined) return "user";
  const side = item.author === "model" ? "model" : "user";
  const isSaid = item.parts.some((part) =>
    part.kind === "text" ? part.text.trim() !== "" : part.kind === "tool_call" || side === "user",
  );
  return isSaid ? side : undefined;
}

/** Not by another model, behind a hook that changes requests, or when the request is too long as it is. */
function mayAskInPlace({ agent: { context, hooks }, journal }: WorkHost): boolean {
  return context?.model === undefined && hooks.beforeReply === undefined && !isOverdue(journal);
}

/** What a further summary must cover: else a context that stays long would be summarised before every run. */
function leastOf({ agent: { context }, journal }: WorkHost): number | undefined {
  const isFirst = journal.context.summaries.size === 0;
  return context === undefined || isFirst || isOverdue(journal) ? undefined : context.window / 10;
}

/** Whether the vendor has refused the request as too long. */
function isOverdue({ standing }: Journal): boolean {
  return isTooLong(standing.run?.turn?.reply?.cause);
}

interface Asked {
  readonly host: WorkHost;
  readonly epochs: Epochs;
  readonly todo: CompactionToDo;
  readonly model: Model;
}

async function ask(
  { host, epochs, todo, model }: Asked,
  request: (signal: AbortSignal | undefined) => Promise<ModelRequest>,
): Promise<Summarised | RetryableAttempt> {
  const { runId, turnId, itemId, signal } = todo;
  const place = { runId, turnId, itemId, lane: 0, epoch: epochs.next() };
  const lane = await openItemLane(host, { ...place, author: "agent", model: model.id });
  if (!isLane(lane)) return { written: true, used: [] };
  const attempted = await attempt(host, model, lane, {
    signal,
    request: async (options) => ({
      ...(await request(options.signal)),
      ...traceOf(host, { runId, lane: 0 }),
      ...options,
    }),
  });
  await dropIfFenced(signal, lane);
  if (hasFailed(attempted) && !signal.aborted) {
    return new RetryableAttempt(host, lane, { runId, itemId }, attempted);
  }
  const usage = attempted.usage ?? noUsage;
  const report = reportOf(todo, { usage, epoch: lane.epoch });
  await host.allowance?.spend(usage);
  const reply = itemFrom(lane, itemId, attempted, "agent");
  const item = signedSummary(reply) ?? reply;
  // A call in a summary would never be answered, so such a reply is not used.
  if (summaryText(item) === undefined || item.parts.some(({ kind }) => kind === "tool_call")) {
    await lane.drop();
    return { written: false, used: [report] };
  }
  await lane.commit(item, { settlement: [report] });
  return { written: true, used: [] };
}

function reportOf(
  { runId }: CompactionToDo,
  { usage, epoch }: { readonly usage: Usage; readonly epoch: Epoch },
): BodyOf<"usage_reported"> {
  return { type: "usage_reported", runId, epoch, usage };
}
