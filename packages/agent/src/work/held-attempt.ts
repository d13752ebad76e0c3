import { commitDraft, noUsage } from "@millrace/core/writing";
import { abortedCause } from "@millrace/core/ports";
import type { Cause, Item, ItemId, RunId, TurnId, Usage } from "@millrace/core";
import type { BodyOf, Ending } from "@millrace/core/writing";
import type { Attempted } from "./attempt.ts";
import type { WorkHost } from "./host.ts";
import type { ItemLane } from "./item-lane.ts";

export interface HeldPlace {
  readonly runId: RunId;
  /** Left out for a summary, whose usage is of no turn. */
  readonly turnId?: TurnId | undefined;
  readonly itemId: ItemId;
}

/**
 * An attempt that failed, with the lane that it wrote. It is held while the loop decides what follows:
 * another attempt replaces it on every screen, and if none follows its draft is what came.
 */
export class HeldAttempt {
  readonly of: "reply" | "summary";
  readonly cause: Cause;
  readonly usage: Usage;
  readonly #host: WorkHost;
  readonly #place: HeldPlace;
  readonly #lane: ItemLane;
  readonly #attempted: Attempted;
  #reported = false;

  constructor(host: WorkHost, lane: ItemLane, place: HeldPlace, attempted: Attempted) {
    this.#host = host;
    this.#lane = lane;
    this.#place = place;
    this.#attempted = attempted;
    this.of = place.turnId === undefined ? "summary" : "reply";
    this.cause = attempted.ending.cause ?? abortedCause;
    this.usage = attempted.usage ?? noUsage;
  }

  get epoch(): ItemLane["epoch"] {
    return this.#lane.epoch;
  }

  /** Whether what it used is among the facts. */
  get reported(): boolean {
    return this.#reported;
  }

  /** What it used is among the facts by now: the next attempt is due after the delay. */
  async scheduled(delayMs: number): Promise<void> {
    this.#reported = true;
    this.#lane.tell({ type: "retry_scheduled", cause: this.cause, delayMs: Math.round(delayMs) });
    await this.#host.allowance?.spend(this.usage);
  }

  /** Stores what came as the reply: as it ended, or as aborted if the run was stopped meanwhile. */
  async commit(how: "as_it_ended" | "aborted"): Promise<void> {
    const stopped: Ending = { stop: "aborted", cause: abortedCause };
    const ending = how === "aborted" ? stopped : this.#attempted.ending;
    const { runId, turnId } = this.#place;
    const { usage, epoch } = this;
    const report: BodyOf<"usage_reported"> = {
      type: "usage_reported",
      runId,
      ...(turnId === undefined ? {} : { turnId }),
      epoch,
      usage,
    };
    const item = itemFrom(this.#lane, this.#place.itemId, { ...this.#attempted, ending });
    await this.#lane.commit(item, { settlement: this.#reported ? [] : [report] });
    if (!this.#reported) await this.#host.allowance?.spend(usage);
  }

  /** Stops writing without an item. */
  async drop(): Promise<void> {
    await this.#lane.drop();
  }
}

/** The item of what a model wrote: the draft of the lane, which viewers saw, and no other. */
export function itemFrom(
  lane: ItemLane,
  id: ItemId,
  { ending, usage, model }: Attempted,
  author: "model" | "agent" = "model",
): Item {
  return commitDraft(lane.draft(), { id, author, usage, model }, ending);
}
