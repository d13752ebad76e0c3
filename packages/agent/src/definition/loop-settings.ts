import type { RetryPolicy } from "@millrace/core/model";
import type { Model } from "@millrace/core";
import type { ToolLabel } from "./labels.ts";
import type { Limits } from "./limits.ts";
import type { Effect } from "./tool.ts";

/** The settings of an agent that decisions depend on, as plain data. */
export interface LoopSettings {
  /** True for an agent with a `respond` function and no model. */
  readonly custom: boolean;
  readonly limits: Limits;
  readonly tools: Readonly<Record<string, ToolSettings>>;
  /** The most tools that run at once. */
  readonly parallel: number;
  /** The context is compacted above this many tokens. Left out: only after a vendor refuses it as too long. */
  readonly compactAbove: number | undefined;
  /** An approval request without an answer is denied after this time. */
  readonly approvalSeconds: number | undefined;
  /** What happens to calls of labelled tools once a session has all three labels. Left out: `ask`. */
  readonly allLabels?: "ask" | "allow" | undefined;
  /** How many requests one reply may take, and the delays between them. */
  readonly retry: RetryPolicy;
  /** The models that the loop asks, by which lost attempts are estimated. Left out: none is known. */
  readonly models?: readonly AskedModel[] | undefined;
}

/** A model, as far as decisions depend on it. */
export interface AskedModel {
  readonly id: string;
  /** In US dollars per million tokens. Left out: unknown, which is never taken for 0. */
  readonly price?: Model["price"];
}

/** The settings of a tool that decisions depend on. */
export interface ToolSettings {
  readonly effect: Effect;
  readonly alone: boolean;
  readonly repeats: number | undefined;
  /** True if clients answer its calls: nothing runs here, and the run waits. */
  readonly client: boolean;
  /** The task queue of its workers. `decide` does not look at it; an engine's workflow does. */
  readonly queue?: string | undefined;
  /** Left out: none. */
  readonly labels?: readonly ToolLabel[] | undefined;
}
