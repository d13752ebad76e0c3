import type { Item, Model, Transcript, Usage } from "@millrace/core";
import type { Metadata, Update } from "@millrace/core/writing";
import type { ModelRequest, RetryPolicy } from "@millrace/core/ports";
import type { Hooks } from "./hooks.ts";
import type { Limits } from "./limits.ts";
import type { Observer } from "./observer.ts";
import type { Policy, SessionInfo, Tool } from "./tool.ts";

/** What every agent may have. */
export interface CommonSettings {
  readonly name?: string | undefined;
  readonly limits?: Limits | undefined;
  readonly observers?: readonly Observer[] | undefined;
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
  /** Writes an item and gives it back once it is stored. */
  readonly write: (
    source: string | AsyncIterable<Update> | ((item: ItemWriter) => void | Promise<void>),
  ) => Promise<Item>;
}

/** One item being written by hand. All functions are bound. */
export interface ItemWriter {
  readonly append: (text: string) => void;
  readonly annotate: (metadata: Metadata) => void;
  /** Ends the item with other content than was streamed; what comes after is ignored. */
  readonly replace: (full: string) => void;
}
