import type { Cause, Json, JsonObject, PartId } from "@millrace/core";
import type { Operation, ReplyContext, Translated } from "../../protocol.ts";
import { failure } from "../../failure.ts";

/** The state of a ConverseStream reply. Immutable. */
export interface BedrockConverseState {
  /** True after `messageStop`, which proves that the reply is complete. */
  readonly stopped: boolean;
  readonly stopReason: string | undefined;
  /** Blocks that have begun and not stopped; usually one. */
  readonly open: readonly OpenBlock[];
  /** Closed calls without arguments. The stop reason shows whether their arguments were cut off. */
  readonly held: readonly PartId[];
  readonly parts: number;
  readonly calls: number;
  readonly namelessCalls: number;
  /** Ids of calls in the transcript and in this reply. */
  readonly taken: ReadonlySet<string>;
  readonly usage: JsonObject | undefined;
  /** Facts about the whole reply, for the evidence. */
  readonly facts: JsonObject;
}

/** A block by its index. Some models leave indexes out; then the newest block is meant. */
export type OpenBlock = { readonly index: number; readonly partId: PartId } & BlockContent;

export type BlockContent =
  | { readonly kind: "text"; readonly citations: List<Json> }
  | { readonly kind: "reasoning"; readonly signature: string }
  /** Reasoning that only the vendor can read. */
  | { readonly kind: "redacted"; readonly bytes: List<Uint8Array> }
  | { readonly kind: "call"; readonly id: Json | undefined; readonly filled: boolean }
  /** A call without a name. It has no part, and its deltas are left out. */
  | { readonly kind: "nameless" }
  | { readonly kind: "image"; readonly bytes: List<Uint8Array> }
  | OwnBlock;

/** A block that is kept as it is: a tool that the vendor runs, its result, or an unknown type. */
export interface OwnBlock {
  readonly kind: "own";
  /** The key of the block, such as `toolResult`. */
  readonly name: string;
  readonly start: JsonObject;
  /** Pieces of a tool's input. */
  readonly input: List<string>;
  /** Pieces of a result. */
  readonly content: List<JsonObject>;
  /** True after a delta that this version can't apply. */
  readonly partial: boolean;
}

/** Values, newest first, so that adding one copies nothing. */
export type List<Value> = { readonly value: Value; readonly before: List<Value> } | undefined;

/** The values of a list, oldest first. */
export function valuesOf<Value>(list: List<Value>): readonly Value[] {
  const values: Value[] = [];
  for (let node = list; node !== undefined; node = node.before) values.push(node.value);
  return values.toReversed();
}

export type Outcome = Translated<BedrockConverseState>;

export const noOperations: readonly Operation[] = [];

export function initial({ takenCallIds }: ReplyContext): BedrockConverseState {
  return {
    stopped: false,
    stopReason: undefined,
    open: [],
    held: [],
    parts: 0,
    calls: 0,
    namelessCalls: 0,
    taken: takenCallIds,
    usage: undefined,
    facts: {},
  };
}

export function failed(state: BedrockConverseState, cause: Cause): Outcome {
  return { state, operations: noOperations, failure: cause };
}

/** A failure because the vendor violated its protocol. */
export function broken(state: BedrockConverseState, message: string, evidence?: Json): Outcome {
  return failed(state, failure("protocol", message, evidence));
}

export function unknown(state: BedrockConverseState): Outcome {
  return { state, operations: noOperations, sign: "unknown" };
}

/** Replaces one open block. Few are open at a time, so the copy is small. */
export function withBlock(
  state: BedrockConverseState,
  old: OpenBlock,
  block: OpenBlock,
): BedrockConverseState {
  return { ...state, open: state.open.map((each) => (each === old ? block : each)) };
}
