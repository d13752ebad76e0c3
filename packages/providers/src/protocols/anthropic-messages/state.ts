import type { Cause, Json, JsonObject, PartId } from "@millrace/core";
import type { ArgumentFault } from "@millrace/core/writing";
import type { Operation, ReplyContext, Translated } from "../../protocol.ts";
import { failure } from "../../failure.ts";
import type { Counts } from "./usage.ts";
import { noCounts } from "./usage.ts";

/** What is known of a reply of the Messages API while it comes in. Never changed, only replaced. */
export interface AnthropicMessagesState {
  /** Whether `message_start` came, and whether `message_stop` did. */
  readonly phase: "new" | "begun" | "over";
  readonly id: string | undefined;
  /** The blocks between their start and their stop; mostly one. */
  readonly open: readonly OpenBlock[];
  /** Places of blocks that are over. */
  readonly closed: ReadonlySet<number>;
  /** The place for a block that names none. */
  readonly next: number;
  /** Calls that are over and have no arguments: the reason to stop says if some were cut off. */
  readonly held: readonly PartId[];
  readonly parts: number;
  readonly calls: number;
  /** Ids of calls in the transcript and in this reply. */
  readonly taken: ReadonlySet<string>;
  readonly stop: Stop | undefined;
  readonly usage: Counts;
  /** What the vendor said about the reply as a whole. */
  readonly facts: JsonObject;
}

/** Why the model stopped, and whether that was said in its own event. */
export interface Stop {
  readonly reason: string;
  readonly said: "at_start" | "at_end";
}

/** A block that was started. */
export type OpenBlock = { readonly index: number; readonly partId: PartId } & BlockContent;

export type BlockContent = TextBlock | ThinkingBlock | RedactedBlock | CallBlock | OtherBlock;

export interface TextBlock {
  readonly kind: "text";
  readonly citations: Citations | undefined;
}

/** Citations as they came, newest first: adding one copies nothing. */
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
  /** The input that stood in the start of the block, as text. It counts if no other comes. */
  readonly preset: string | undefined;
  readonly fault: ArgumentFault | undefined;
  /** Whether arguments came that are more than white space. */
  readonly filled: boolean;
}

/** A block that is kept as it is: tools that the vendor runs, their results, and what nobody knows. */
export interface OtherBlock {
  readonly kind: "other";
  readonly block: JsonObject;
  readonly labels: JsonObject;
  /** What deltas added to the block's fields. */
  readonly added: Readonly<Record<string, string>>;
  /** Deltas came that this version can't put together. */
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
    next: 0,
    held: [],
    parts: 0,
    calls: 0,
    taken: takenCallIds,
    stop: undefined,
    usage: noCounts,
    facts: {},
  };
}

export function failed(state: AnthropicMessagesState, cause: Cause): Outcome {
  return { state, operations: noOperations, failure: cause };
}

/** The vendor broke its own protocol. */
export function broken(state: AnthropicMessagesState, message: string, evidence?: Json): Outcome {
  return failed(state, failure("protocol", message, evidence));
}

export function unknown(state: AnthropicMessagesState): Outcome {
  return { state, operations: noOperations, sign: "unknown" };
}

/** The state with one open block exchanged. Few are open at a time, so the copy is small. */
export function withBlock(
  state: AnthropicMessagesState,
  old: OpenBlock,
  block: OpenBlock,
): AnthropicMessagesState {
  return { ...state, open: state.open.map((each) => (each === old ? block : each)) };
}
