import type { ItemId, PartId, RunId, TurnId } from "../ids.ts";
import type { JsonObject } from "../json.ts";

/**
 * What the model goes by from this turn on: the agent's instructions and tools, and what else requests
 * are made of beside items. Stored with the turn, and only when something of it has changed, so that
 * every process makes the same requests of the same facts.
 */
export interface GuidanceSet {
  readonly type: "guidance_set";
  readonly runId: RunId;
  readonly turnId: TurnId;
  /** What has changed since the last one. Left out for viewers, who are not to read it. */
  readonly guidance?: JsonObject;
}

/** Reasoning that only its vendor can read is not sent to a scope any more, up to an item. */
export interface ReasoningDropped {
  readonly type: "reasoning_dropped";
  readonly runId: RunId;
  /** Where it is not sent any more: an endpoint and an account there. Left out: anywhere. */
  readonly scope?: string;
  readonly through: ItemId;
  readonly reason: "refused" | "summary" | "prefix_changed";
}

/** Requests have a text in the place of a part that a vendor refused, or whose bytes are lost. */
export interface PartLeftOut {
  readonly type: "part_left_out";
  readonly runId: RunId;
  readonly itemId: ItemId;
  readonly partId: PartId;
  readonly text: string;
}

/** The next request does not begin with the one before: a vendor's cache of that is of no use. */
export interface PrefixBroken {
  readonly type: "prefix_broken";
  readonly runId: RunId;
  readonly reason: string;
}

/** What a developer should look at though nothing has failed. Stored once in a session for each code. */
export interface Notice {
  readonly type: "notice";
  readonly runId: RunId;
  /** Snake case, as `cache_missed`. */
  readonly code: string;
  readonly message: string;
}
