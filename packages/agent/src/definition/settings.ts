import type { Delta, Item, Model, Part, RunId, SessionId, Transcript, Usage } from "@millrace/core";
import type { RetryPolicy } from "@millrace/core/model";
import type { ModelRequest, TraceContext } from "@millrace/core/ports";
import type { CommitPart, Metadata, Update } from "@millrace/core/writing";
import type { Hooks } from "./hooks.ts";
import type { Limits } from "./limits.ts";
import type { Observer } from "./observer.ts";
import type { StallSettings } from "./stall.ts";
import type { Policy, SessionInfo, Tool } from "./tool.ts";

/** Settings of every agent. */
export interface CommonSettings {
  readonly name?: string | undefined;
  readonly limits?: Limits | undefined;
  readonly observers?: readonly Observer[] | undefined;
  /**
   * Whether the process is warned of what would otherwise go unnoticed: a failed run whose outcome its
   * sender never reads, and a session whose live text reaches no other process. `true` if left out.
   */
  readonly warnings?: boolean | undefined;
  /**
   * Returns the trace context of a request to a model, such as `traceOf` of `openTelemetry()` does. It is
   * put into the request. If it is left out or throws, the request has none.
   */
  readonly trace?: ((place: TracedRequest) => TraceContext | undefined) | undefined;
}

/** The place of a traced request: its run, and the lane if it writes a reply. */
export interface TracedRequest {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly lane?: number | undefined;
}

/** Settings of an agent that sends requests to a model and runs its calls. */
export interface AgentSettings<Tools extends readonly Tool[]> extends CommonSettings {
  readonly model: Model;
  readonly instructions?: string | ((session: SessionInfo) => string | Promise<string>) | undefined;
  /**
   * What changes from run to run, as a date or a budget: asked for once in each run, and put behind its
   * prompt, where it changes nothing that a vendor has seen.
   */
  readonly notes?: ((session: SessionInfo) => string | Promise<string>) | undefined;
  readonly tools?: Tools | undefined;
  /** Policies by tool name. The strictest of all matching rules, the tool's own policy and the hook's wins. */
  readonly policy?: readonly PolicyRule[] | undefined;
  readonly hooks?: Hooks | undefined;
  readonly context?: ContextSettings | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** How long the model may stream nothing, thinking included. `false`: without limit and without reports. */
  readonly stall?: StallSettings | false | undefined;
  /** Returns the cost of a reply in US dollars, or nothing if it is unknown. Called if the provider reports none. */
  readonly price?: ((usage: Usage, model: string) => number | undefined) | undefined;
  /**
   * What happens to a call of a tool with a label once the session has all three, this call included:
   * private data, a stranger's text and a way out. Left out: `ask`, in addition to all other policies.
   * `allow`: only those count.
   */
  readonly allLabels?: "ask" | "allow" | undefined;
  /** An approval request without an answer is denied after this time. Left out: it waits without limit. */
  readonly approvalTimeoutMs?: number | undefined;
  /** The most tools that run at once. 8 if left out. */
  readonly parallel?: number | undefined;
  readonly respond?: undefined;
}

/**
 * What an agent yields: updates whose part ids may be plain strings. An id is checked when it is
 * written, and the stored part has an id that is unique in the session.
 */
export type Yielded = Update | WithPlainId<Exclude<Delta, CommitPart>>;

type WithPlainId<D extends Delta> = D extends Delta
  ? Omit<D, "partId"> & { readonly partId: string }
  : never;

/** Answers one turn of an agent without a model: yields updates, or writes items by `run.write`. */
export type Respond = (
  run: ActiveRun,
) => AsyncIterable<Yielded> | Promise<void | AsyncIterable<Yielded>>;

/** Settings of an agent that writes its items by its own code. */
export interface CustomAgentSettings extends CommonSettings {
  readonly respond: Respond;
  readonly model?: undefined;
  readonly tools?: undefined;
  readonly stall?: undefined;
}

/** A policy for one or more tools. The strictest of all rules that match a call counts. */
export interface PolicyRule {
  /** A tool's name. With `*` at its end: all names that start with the text before it. */
  readonly tool: string;
  readonly policy: Policy;
}

/** When and how the oldest items are summarised. */
export interface ContextSettings {
  /** The size of the model's context in tokens. */
  readonly window: number;
  /** The part of the window above which the oldest items are summarised. 0.8 if left out. */
  readonly compactAbove?: number | undefined;
  /** At least this many of the latest items are never summarised. 8 if left out. */
  readonly keep?: number | undefined;
  /** The instructions of the summary request. */
  readonly instructions?: string | undefined;
  /** Writes the summaries. Left out: the agent's own model. */
  readonly model?: Model | undefined;
  /**
   * `"own"`: summaries are always asked for in words. `"auto"`, if left out: a vendor that signs summaries is
   * asked for one, behind which what the model thought stays valid.
   */
  readonly compaction?: "auto" | "own" | undefined;
}

/** The run as the `respond` function of its agent gets it. All functions are bound. */
export interface ActiveRun {
  readonly session: SessionInfo;
  readonly transcript: Transcript;
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  /**
   * Writes an item, and resolves with it once it is stored. If the updates hold several items, resolves
   * with the last. If the agent's own code throws or yields an illegal update, the content so far is
   * stored as failed and the promise rejects. A failed model does not reject: its item has the failure
   * in `stop` and `cause`.
   */
  readonly write: (
    source: string | AsyncIterable<Yielded> | ((item: ItemWriter) => void | Promise<void>),
  ) => Promise<Item>;
}

/** Writes one item from a function. All functions are bound. */
export interface ItemWriter {
  readonly append: (text: string) => void;
  readonly annotate: (metadata: Metadata) => void;
  /**
   * Stores the item at once with other content than the streamed one: a text, or parts of any kind.
   * Later calls of this writer are ignored, also a second `replace`. `metadata` is stored with the text,
   * or with the item if there are parts; left out, the value from `annotate` stays. Resolves once the
   * item is stored. It need not be awaited, because `write` waits for it.
   */
  readonly replace: (full: string | readonly Part[], metadata?: Metadata) => Promise<Item>;
}
