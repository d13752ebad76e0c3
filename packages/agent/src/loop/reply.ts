import { abortedCause, commitDraft, MillraceError, noUsage, retryDelay } from "@millrace/core";
import type {
  BodyOf,
  Cause,
  Clock,
  Item,
  ItemId,
  Model,
  ModelRequest,
  Reply,
  RunId,
  TurnId,
  Usage,
} from "@millrace/core";
import { Fenced } from "./host.ts";
import type { Epochs, Host } from "./host.ts";
import { isLane, openItemLane } from "./lane.ts";
import type { ItemLane } from "./lane.ts";
import { requestFor } from "./request.ts";
import { watchForStall } from "./stall.ts";

export interface ReplyToGet {
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly signal: AbortSignal;
  /** Stores what an attempt used that no item will tell of. */
  readonly report: (usage: BodyOf<"usage_reported">) => Promise<void>;
  /** Told of the tools that the model is offered. */
  readonly offered: (names: readonly string[]) => void;
  /** The limit that forbids another attempt after this one, if one does. */
  readonly overspent: (used: Usage) => string | undefined;
}

/** A model that was told to stop has this long to do so; then the reply is what came until then. */
const graceMs = 2_000;

/**
 * Gets the model's reply and stores it. A try that fails in a way that passes is followed by another
 * one, which replaces it on every screen; how many there were is in the facts, so a restart does not
 * begin to count anew. Whatever ends the last one, the item is stored with what came.
 */
export async function getReply(host: Host, epochs: Epochs, wanted: ReplyToGet): Promise<void> {
  const { runId, turnId, itemId, signal } = wanted;
  const { model } = host.agent;
  if (model === undefined) {
    throw new MillraceError("invalid_definition", "an agent without a model was asked for a reply");
  }
  for (;;) {
    const place = { runId, turnId, itemId, lane: 0, epoch: epochs.next() };
    const opened = await openItemLane(host, { ...place, author: "model", model: model.id });
    if (!isLane(opened)) return;
    const request = async (options: RequestOptions): Promise<ModelRequest> => {
      const made = await requestFor(host, runId, options);
      wanted.offered(made.tools?.map(({ name }) => name) ?? []);
      return made;
    };
    const reply = priced(host, await attempt(host, model, opened, { signal, request }));
    await checkFence(signal, opened);
    const usage = reply.usage ?? noUsage;
    const report = { type: "usage_reported", runId, turnId, epoch: opened.epoch, usage } as const;
    const again = tryAgain(host, wanted, reply);
    if (again === undefined) {
      await opened.commit(itemOf(itemId, reply), { settlement: [report] });
      await host.allowance?.spend(usage);
      return;
    }
    await wanted.report(report);
    await host.allowance?.spend(usage);
    opened.tell({ type: "retry_scheduled", ...again });
    await host.clock.sleep(again.delayMs, signal);
    await checkFence(signal, opened);
    if (signal.aborted) {
      // Stopped while it waited: what the failed attempt brought is what came.
      await opened.commit(itemOf(itemId, cutShort(reply, "aborted", abortedCause)));
      return;
    }
    await opened.drop();
  }
}

/** Ends a writer whose session is another's now, or was closed. */
async function checkFence({ reason }: AbortSignal, lane: ItemLane): Promise<void> {
  if (!(reason instanceof Fenced)) return;
  await lane.drop();
  throw reason;
}

type RequestOptions = Pick<ModelRequest, "signal" | "notify">;

/**
 * One request, streamed into the lane. Never rejects: what fails is the reply's ending. A model that
 * does not stop when told, or says nothing for too long, is left behind.
 */
export async function attempt(
  { clock }: Pick<Host, "clock">,
  model: Model,
  lane: ItemLane,
  asked: {
    readonly signal: AbortSignal;
    readonly request: (options: RequestOptions) => Promise<ModelRequest>;
  },
): Promise<Reply> {
  const { signal } = asked;
  const stop = new AbortController();
  const done = new AbortController();
  signal.addEventListener("abort", () => stop.abort(signal.reason), {
    once: true,
    signal: done.signal,
  });
  if (signal.aborted) stop.abort(signal.reason);
  const watch = watchForStall(clock, lane.tell, () => stop.abort());
  const read = async (): Promise<Reply> => {
    const request = await asked.request({
      signal: stop.signal,
      notify: (notice) => {
        if (notice.type !== "remark") lane.tell(notice);
      },
    });
    const stream = model.stream(request);
    for await (const delta of stream) {
      watch.moved();
      lane.write(delta);
    }
    return await stream.result;
  };
  try {
    const left = leaveBehind(clock, stop.signal, done.signal);
    const reply = (await Promise.race([read(), left])) ?? cutReply(model, lane);
    const gaveUp = watch.stalled() && reply.stop === "aborted";
    return gaveUp ? cutShort(reply, "failed", stalledCause) : reply;
  } catch (error) {
    return cutShort(cutReply(model, lane), "failed", agentCause(error));
  } finally {
    watch.stop();
    done.abort();
  }
}

/** Resolves when a model that was told to stop has not done so in time. */
async function leaveBehind(clock: Clock, stop: AbortSignal, done: AbortSignal): Promise<undefined> {
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve(), { once: true, signal: done });
  });
  await clock.sleep(graceMs, done);
  return undefined;
}

/** What is in the lane, as if it ended now. */
function cutReply({ id: model }: Model, lane: ItemLane): Reply {
  const head = { id: "none" as ItemId, author: "model" } as const; // the parts are what is wanted
  const { parts } = commitDraft(lane.draft(), head, { stop: "aborted", cause: abortedCause });
  return { parts, model, stop: "aborted", cause: abortedCause };
}

function cutShort(reply: Reply, stop: "aborted" | "failed", cause: Cause): Reply {
  const { evidence: _, ...rest } = reply;
  return { ...rest, stop, cause };
}

/** Why and when to try again, or nothing if this reply counts. */
function tryAgain(
  host: Host,
  wanted: ReplyToGet,
  reply: Reply,
): { readonly cause: Cause; readonly delayMs: number } | undefined {
  if (reply.stop !== "failed" && reply.stop !== "truncated") return undefined;
  if (wanted.signal.aborted || wanted.overspent(reply.usage ?? noUsage) !== undefined)
    return undefined;
  const { cause } = reply;
  const before = host.journal.standing.run?.turn?.attempts ?? 0;
  const delayMs = retryDelay(host.agent.retry, { attempt: before + 1, cause }, host.random());
  return delayMs === undefined ? undefined : { cause, delayMs };
}

function priced({ agent }: Host, reply: Reply): Reply {
  const { usage, model } = reply;
  if (usage === undefined || usage.cost !== undefined || agent.price === undefined) return reply;
  return { ...reply, usage: withCost(usage, () => agent.price?.(usage, model)) };
}

/** A price list that throws, or does not know the model, leaves the cost unknown. */
function withCost(usage: Usage, price: () => number | undefined): Usage {
  try {
    const cost = price();
    return cost === undefined || !Number.isFinite(cost) ? usage : { ...usage, cost };
  } catch {
    return usage;
  }
}

function itemOf(id: ItemId, reply: Reply): Item {
  return { id, author: "model", ...reply };
}

function agentCause(error: unknown): Cause {
  const said = error instanceof Error ? error.message : String(error);
  return { code: "agent_failed", message: `the agent's own code threw: ${said}` };
}

const stalledCause: Cause = {
  code: "stalled",
  message: "nothing came from the model for too long, so the attempt was given up",
  retryable: true,
};
