import type { Cause, Json, JsonObject, PartId } from "@millrace/core";
import type { ArgumentFault } from "@millrace/core/writing";
import type { Operation, ReplyContext, Translated } from "../../protocol.ts";
import { failure } from "../../failure.ts";
import type { Counts } from "./usage.ts";
import { noCounts } from "./usage.ts";

/** The state of a Messages API reply. Immutable. */
export interface AnthropicMessagesState {
  /** `begun` after `message_start`, `over` after `message_stop`. */
  readonly phase: "new" | "begun" | "over";
  readonly id: string | undefined;
  /** Blocks between start and stop; usually one. */
  readonly open: readonly OpenBlock[];
  /** Indexes of closed blocks. Some servers use one for every block. */
  readonly closed: ReadonlySet<number>;
  /** True if the message began a second time after content: its blocks may come again too. */
  readonly restarted: boolean;
  /** The index for a block that has none. */
  readonly next: number;
  /**
   * Closed calls without arguments. The stop reason shows whether their arguments were cut off.
   */
  readonly held: readonly PartId[];
  readonly parts: number;
  readonly calls: number;
  /** Calls whose block has no name. */
  readonly namelessCalls: number;
  /** Ids of calls in the transcript and in this reply. */
  readonly taken: ReadonlySet<string>;
  readonly stop: Stop | undefined;
  readonly usage: Counts;
  /** Facts about the whole reply, for the evidence. */
  readonly facts: JsonObject;
}

/**
 * The stop reason, and where it arrived: in `message_delta` (`at_end`), or before content, where it
 * proves nothing without `message_stop`.
 */
export interface Stop {
  readonly reason: string;
  readonly reported: "before_content" | "at_end";
}

/** A block that has started and not stopped. */
export type OpenBlock = { readonly index: number; readonly partId: PartId } & BlockContent;

export type BlockContent =
  | TextBlock
  | ThinkingBlock
  | RedactedBlock
  | CallBlock
  | NamelessBlock
  | OtherBlock;

export interface TextBlock {
  readonly kind: "text";
  readonly citations: Citations | undefined;
}

/** Citations, newest first, so that adding one copies nothing. */
export interface Citations {
  readonly citation: Json;
  readonly before: Citations | undefined;
}

export interface ThinkingBlock {
  readonly kind: "thinking";
  readonly signature: string;
}

export interface RedactedBlock {
  readonly kind: "redacted_thinking";
  readonly data: string | undefined;
}

export interface CallBlock {
  readonly kind: "tool_use";
  /** The vendor's id of the call. */
  readonly id: Json | undefined;
  /** The input in the start of the block, as JSON text. Used if no deltas follow. */
  readonly preset: string | undefined;
  readonly fault: ArgumentFault | undefined;
  /** True once an argument delta had more than white space. */
  readonly filled: boolean;
}

/** A call without a name. It has no part, and its deltas are left out. */
export interface NamelessBlock {
  readonly kind: "nameless";
}

/** A block that is kept as it is: server tools, their results, and unknown types. */
export interface OtherBlock {
  readonly kind: "other";
  readonly block: JsonObject;
  readonly labels: JsonObject;
  /** Text that deltas added to fields of the block. */
  readonly added: Readonly<Record<string, string>>;
  /** True after a delta of a type that this version can't apply. */
  readonly partial: boolean;
}

export type Outcome = Translated<AnthropicMessagesState>;

export const noOperations: readonly Operation[] = [];

export function initial({ takenCallIds }: ReplyContext): AnthropicMessagesState {
  return {
    phase: "new",
    id: undefined,
    open: [],
    closed: new Set(),
    restarted: false,
    next: 0,
    held: [],
    parts: 0,
    calls: 0,
    namelessCalls: 0,
    taken: takenCallIds,
    stop: undefined,
    usage: noCounts,
    facts: {},
  };
}

export function failed(state: AnthropicMessagesState, cause: Cause): Outcome {
  return { state, operations: noOperations, failure: cause };
}

/** A failure because the vendor violated its protocol. */
export function broken(state: AnthropicMessagesState, message: string, evidence?: Json): Outcome {
  return failed(state, failure("protocol", message, evidence));
}

export function unknown(state: AnthropicMessagesState): Outcome {
  return { state, operations: noOperations, sign: "unknown" };
}

/** The state before content. A stop reason that content follows is no end by itself. */
export function beforeContent(state: AnthropicMessagesState): AnthropicMessagesState {
  const { stop } = state;
  if (stop === undefined || stop.reported === "before_content") return state;
  return { ...state, stop: { ...stop, reported: "before_content" } };
}

/** Replaces one open block. Few are open at a time, so the copy is small. */
export function withBlock(
  state: AnthropicMessagesState,
  old: OpenBlock,
  block: OpenBlock,
): AnthropicMessagesState {
  return { ...state, open: state.open.map((each) => (each === old ? block : each)) };
}
