import type { Item, Model, Part, RunId, SessionId, Transcript, Usage } from "@millrace/core";
import type { ModelRequest, RetryPolicy, TraceContext } from "@millrace/core/ports";
import type { Metadata, Update } from "@millrace/core/writing";
import type { Hooks } from "./hooks.ts";
import type { Limits } from "./limits.ts";
import type { Observer } from "./observer.ts";
import type { StallSettings } from "./stall.ts";
import type { Policy, SessionInfo, Tool } from "./tool.ts";

/** What every agent may have. */
export interface CommonSettings {
  readonly name?: string | undefined;
  readonly limits?: Limits | undefined;
  readonly observers?: readonly Observer[] | undefined;
  /**
   * The span that a request to a model is part of, such as `traceOf` of `openTelemetry()`. It stands in
   * the request. Left out, or if it throws: the request has none.
   */
  readonly trace?: ((place: TracePlace) => TraceContext | undefined) | undefined;
}

/** What is being traced: a run, and its lane if a reply is being written in one. */
export interface TracePlace {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly lane?: number | undefined;
}

/** An agent that asks a model and carries out its calls. */
export interface AgentSettings<Tools extends readonly Tool[]> extends CommonSettings {
  readonly model: Model;
  readonly instructions?: string | ((session: SessionInfo) => string | Promise<string>) | undefined;
  readonly tools?: Tools | undefined;
  /** Rules about tools by name; the strictest of all that match, the tool's own and the hook's wins. */
  readonly policy?: readonly PolicyRule[] | undefined;
  readonly hooks?: Hooks | undefined;
  readonly context?: ContextSettings | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** How long the model may be silent, thinking included. `false`: as long as it likes, unreported. */
  readonly stall?: StallSettings | false | undefined;
  /** What a reply cost, in US dollars, where the vendor does not say. */
  readonly price?: ((usage: Usage, model: string) => number) | undefined;
  /** A question that nobody answers is a no after this long. Left out: it waits. */
  readonly approvalSeconds?: number | undefined;
  /** Tools that run at once, at most. */
  readonly parallel?: number | undefined;
  readonly respond?: undefined;
}

/** What an agent that writes by itself does for one turn: yields updates, now or later, or writes items. */
export type Respond = (
  run: ActiveRun,
) => AsyncIterable<Update> | Promise<void | AsyncIterable<Update>>;

/** An agent that writes its items by itself. */
export interface CustomAgentSettings extends CommonSettings {
  readonly respond: Respond;
  readonly model?: undefined;
  readonly tools?: undefined;
  readonly stall?: undefined;
}

/** Whether calls of a tool may run. Of all rules that fit a call the strictest counts. */
export interface PolicyRule {
  /** A tool's name; with `*` at its end, all names that begin so. */
  readonly tool: string;
  readonly policy: Policy;
}

/** When the oldest items are summarised, and how. */
export interface ContextSettings {
  /** The tokens that the model's context holds. */
  readonly window: number;
  /** The share of it above which the oldest items are summarised. 0.8 if left out. */
  readonly compactAbove?: number | undefined;
  /** The latest items that stay as they are, at least. 8 if left out. */
  readonly keep?: number | undefined;
  /** What the summarising model is told. */
  readonly instructions?: string | undefined;
  /** Summarises instead of the agent's own model. */
  readonly model?: Model | undefined;
}

/** A run seen from inside the agent that performs it. All functions are bound. */
export interface ActiveRun {
  readonly session: SessionInfo;
  readonly transcript: Transcript;
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  /**
   * Writes an item and gives it back once it is stored; of updates that hold several items, the last
   * one. Rejects if the agent's own code fails in it, by an error or an illegal update, after what came
   * is stored as failed. A model's failure is an item like others: its `stop` and `cause` say so.
   */
  readonly write: (
    source: string | AsyncIterable<Update> | ((item: ItemWriter) => void | Promise<void>),
  ) => Promise<Item>;
}

/** One item being written by hand. All functions are bound. */
export interface ItemWriter {
  readonly append: (text: string) => void;
  readonly annotate: (metadata: Metadata) => void;
  /**
   * Stores the item at once with other content than was streamed: a text, or parts of any kind. What
   * comes after is ignored, a second `replace` too. `metadata` is stored with the text, or with the
   * item if there are parts; left out, what `annotate` set stays. Settles once the item is stored, and
   * need not be awaited: `write` waits for it.
   */
  readonly replace: (full: string | readonly Part[], metadata?: Metadata) => Promise<Item>;
}
