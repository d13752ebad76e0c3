import type { RetryPolicy } from "@millrace/core/ports";
import type { Limits } from "./limits.ts";
import type { Effect } from "./tool.ts";

/** How an agent is set up, as far as decisions depend on it. Plain data. */
export interface LoopSettings {
  /** The agent answers by itself, instead of a model with tools. */
  readonly custom: boolean;
  readonly limits: Limits;
  readonly tools: Readonly<Record<string, ToolSettings>>;
  /** Tools that run at once, at most. */
  readonly parallel: number;
  /** Above this many tokens the context is compacted. Left out: only when a vendor refuses it. */
  readonly compactAbove: number | undefined;
  /** A question without an answer is a no after this long. */
  readonly approvalSeconds: number | undefined;
  /** How many requests one reply may take, and how long is waited between them. */
  readonly retry: RetryPolicy;
}

/** What the loop knows of a tool. Its function is not here: the loop runs nothing. */
export interface ToolSettings {
  readonly effect: Effect;
  readonly alone: boolean;
  readonly repeats: number | undefined;
  /** A client answers its calls: nothing runs here, the run only waits. */
  readonly client: boolean;
}
