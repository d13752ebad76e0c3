import { commitDraft, noUsage } from "@millrace/core/writing";
import { abortedCause } from "@millrace/core/model";
import type { ModelResponse } from "@millrace/core/ports";
import type { Cause, Item, ItemId, JsonObject, RunId, TurnId, Usage } from "@millrace/core";
import type { BodyOf, Ending } from "@millrace/core/writing";
import type { Attempted } from "./attempt.ts";
import type { WorkHost } from "./host.ts";
import type { ItemLane } from "./item-lane.ts";

export interface AttemptIds {
  readonly runId: RunId;
  /** Left out for a summary: its usage belongs to the run and to no turn. */
  readonly turnId?: TurnId | undefined;
  readonly itemId: ItemId;
}

/**
 * A failed attempt whose lane is still open. The driver holds it while the loop decides about a retry.
 * A retry opens the same lane under a new epoch, which replaces the draft in every view. Without a
 * retry the draft is committed as the reply, so that the item contains what viewers saw.
 */
export class RetryableAttempt {
  readonly of: "reply" | "summary";
  readonly cause: Cause;
  readonly usage: Usage;
  readonly #host: WorkHost;
  readonly #ids: AttemptIds;
  readonly #lane: ItemLane;
  readonly #attempted: Attempted;
  #reported = false;

  constructor(host: WorkHost, lane: ItemLane, ids: AttemptIds, attempted: Attempted) {
    this.#host = host;
    this.#lane = lane;
    this.#ids = ids;
    this.#attempted = attempted;
    this.of = ids.turnId === undefined ? "summary" : "reply";
    this.cause = attempted.ending.cause ?? abortedCause;
    this.usage = attempted.usage ?? noUsage;
  }

  get epoch(): ItemLane["epoch"] {
    return this.#lane.epoch;
  }

  /** True once the attempt's usage is stored. */
  get reported(): boolean {
    return this.#reported;
  }

  /** Called after the usage was stored and a retry scheduled: publishes the retry, and spends the usage. */
  async scheduled(delayMs: number): Promise<void> {
    this.#reported = true;
    this.#lane.publish({
      type: "retry_scheduled",
      cause: this.cause,
      delayMs: Math.round(delayMs),
    });
    await this.#host.allowance?.spend(this.usage);
  }

  /** Stores the draft as the reply: as the attempt ended, or as aborted if the run was stopped since. */
  async commit(how: "as_it_ended" | "aborted"): Promise<void> {
    const stopped: Ending = { stop: "aborted", cause: abortedCause };
    const ending = how === "aborted" ? stopped : this.#attempted.ending;
    const { runId, turnId } = this.#ids;
    const { usage, epoch } = this;
    const report: BodyOf<"usage_reported"> = {
      type: "usage_reported",
      runId,
      ...(turnId === undefined ? {} : { turnId }),
      epoch,
      usage,
    };
    const item = itemFrom(this.#lane, this.#ids.itemId, { ...this.#attempted, ending });
    await this.#lane.commit(item, { settlement: this.#reported ? [] : [report] });
    if (!this.#reported) await this.#host.allowance?.spend(usage);
  }

  /** Closes the lane without storing an item. */
  async drop(): Promise<void> {
    await this.#lane.drop();
  }
}

/** The item of an attempt. Its content is the lane's draft, so it equals what viewers saw. */
export function itemFrom(
  lane: ItemLane,
  id: ItemId,
  { ending, usage, model, response }: Attempted,
  author: "model" | "agent" = "model",
): Item {
  const metadata = responseMetadata(response);
  return commitDraft(lane.draft(), { id, author, usage, model, metadata }, ending);
}

/** What came with the vendor's answer stays with the item: support asks for it when the reply is long over. */
function responseMetadata(response: ModelResponse | undefined): JsonObject | undefined {
  if (response === undefined) return undefined;
  const { rateLimits, ...rest } = response;
  const limits = rateLimits?.map((limit) => ({ ...limit }));
  return { response: { ...rest, ...(limits === undefined ? {} : { rateLimits: limits }) } };
}
