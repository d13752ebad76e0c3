import { isJsonObject } from "@millrace/core/wire";
import type {
  ApprovalId,
  CallId,
  Fact,
  InputId,
  Item,
  ItemId,
  RunId,
  RunOutcome,
  StopReason,
  TurnId,
  Usage,
  JsonObject,
  ToolCallPart,
} from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import type { Epoch } from "@millrace/core/ports";
import type { Limits } from "../definition/limits.ts";
import { readLimits } from "./limits.ts";
import type { Spent } from "./state.ts";

/**
 * A fact without its content, as far as decisions depend on it. About 100 bytes. Texts, arguments and
 * results stay in the store, so an outline fits into a workflow's history or a log line.
 */
export type Outline = OutlineBody & { readonly n: number };

type OutlineBody =
  | {
      readonly type: "session_claimed";
      readonly incarnation: number;
      readonly to?: number;
      readonly resumes?: RunId;
    }
  | { readonly type: "session_released" }
  | { readonly type: "input_accepted"; readonly inputId: InputId; readonly input: InputOutline }
  | { readonly type: "queue_updated"; readonly inputId: InputId }
  | { readonly type: "run_started"; readonly runId: RunId; readonly time: number }
  | { readonly type: "run_finished"; readonly outcome: RunOutcome["outcome"] }
  | { readonly type: "turn_started"; readonly turnId: TurnId }
  | { readonly type: "turn_finished"; readonly stop: StopReason }
  | ItemOutline
  | {
      readonly type: "approval_requested";
      readonly approvalId: ApprovalId;
      readonly callId: CallId;
      readonly hash: string;
      readonly time: number;
    }
  | {
      readonly type: "approval_resolved";
      readonly approvalId: ApprovalId;
      readonly decision: "allow" | "deny";
      readonly hash?: string;
      readonly time: number;
    }
  | {
      readonly type: "tool_execution_started";
      readonly itemId: ItemId;
      readonly epoch: Epoch;
      readonly client?: true;
    }
  | { readonly type: "compaction_started" }
  | { readonly type: "compaction_finished"; readonly worked: boolean }
  | {
      readonly type: "usage_reported";
      readonly turnId?: TurnId;
      readonly tokens: number;
      readonly cost?: number;
      readonly lost?: true;
    }
  /** A vendor refused what a model had thought before, and that is no longer sent. */
  | { readonly type: "reasoning_dropped" }
  /** A fact that no decision depends on. Kept so that outlines have the same numbers as facts. */
  | { readonly type: "other" };

/** An accepted input, without its content. */
export type InputOutline =
  | { readonly kind: "prompt" | "steer" | "follow_up"; readonly limits?: Limits }
  | { readonly kind: "answer" }
  | { readonly kind: "abort"; readonly runId?: RunId };

/** A committed item, without its content. */
export interface ItemOutline {
  readonly type: "item_committed";
  readonly itemId: ItemId;
  readonly inputId?: InputId;
  /** Set on the item by which the loop asks the model to correct its answer. */
  readonly correction?: true;
  /** Set on the item of a model. */
  readonly reply?: ReplyOutline;
  /** The tool that ran, on the item of its result. Not set for a call that was answered without running. */
  readonly ran?: string;
  /** Set if a stop aborted the item. Never on a tool's result: that does not mark a stop of the run. */
  readonly aborted?: true;
}

/** What the loop keeps of a model's item: how it ended, its size and its calls. */
export interface ReplyOutline {
  readonly stop: StopReason;
  /** The code of its failure. */
  readonly cause?: string;
  readonly tokens: number;
  readonly calls: readonly CallOutline[];
}

/** A call in a reply: its tool, and the print by which repeats are detected. In an engine's history the print is empty. */
export interface CallOutline {
  readonly callId: CallId;
  readonly tool: string;
  readonly print: string;
  /** Set if the reply has its result, or an earlier call of the reply has the same id. */
  readonly settled?: true;
}

/** Makes the outline of a fact. Linear in the fact's size, because the arguments of calls are hashed. */
export function outline(fact: Fact): Outline {
  return { n: fact.n, ...outlineBody(fact) };
}

function outlineBody(fact: Fact): OutlineBody {
  switch (fact.type) {
    case "session_claimed": {
      const { type, incarnation, to, resumes } = fact;
      const reset = to === undefined ? {} : { to };
      return { type, incarnation, ...reset, ...(resumes === undefined ? {} : { resumes }) };
    }
    case "session_released":
      return { type: fact.type };
    case "input_accepted":
      return { type: fact.type, inputId: fact.inputId, input: inputOutline(fact) };
    case "queue_updated":
      return { type: fact.type, inputId: fact.inputId };
    case "run_started":
      return { type: fact.type, runId: fact.runId, time: fact.time };
    case "run_finished":
      return { type: fact.type, outcome: fact.outcome };
    case "turn_started":
      return { type: fact.type, turnId: fact.turnId };
    case "turn_finished":
      return { type: fact.type, stop: fact.stop };
    case "item_committed":
    case "item_replaced":
      return itemOutline(fact);
    case "approval_requested": {
      const { type, approvalId, callId, hash, time } = fact;
      return { type, approvalId, callId, hash, time };
    }
    case "approval_resolved": {
      const { type, approvalId, decision, hash, time } = fact;
      return { type, approvalId, decision, ...(hash === undefined ? {} : { hash }), time };
    }
    case "tool_execution_started":
      return {
        type: fact.type,
        itemId: fact.itemId,
        epoch: fact.epoch,
        ...(fact.client === true ? { client: true } : {}),
      };
    case "compaction_started":
      return { type: fact.type };
    case "compaction_finished":
      return { type: fact.type, worked: fact.summary !== undefined };
    case "usage_reported": {
      const { tokens, cost } = spentOf(fact.usage);
      const turn = fact.turnId === undefined ? {} : { turnId: fact.turnId };
      const lost = fact.lost === true ? ({ lost: true } as const) : {};
      return { type: fact.type, ...turn, tokens, ...(cost === undefined ? {} : { cost }), ...lost };
    }
    case "reasoning_dropped":
      return { type: fact.reason === "refused" ? fact.type : "other" };
    case "tool_execution_finished": // the result's item settles the call
    case "guidance_set": // requests are made of these, not decisions
    case "part_left_out":
    case "prefix_broken":
    case "notice":
    case "opaque":
      return { type: "other" };
    default:
      fact satisfies never;
      return { type: "other" };
  }
}

function inputOutline({ input }: FactOf<"input_accepted">): InputOutline {
  if (input.kind === "answer") return { kind: input.kind };
  if (input.kind === "abort") {
    return { kind: input.kind, ...(input.runId === undefined ? {} : { runId: input.runId }) };
  }
  const asked = input.options?.["limits"];
  return { kind: input.kind, ...(isJsonObject(asked) ? { limits: readLimits(asked) } : {}) };
}

function itemOutline(fact: FactOf<"item_committed" | "item_replaced">): ItemOutline {
  const { item, inputId, runId } = fact;
  const corrects = item.author === "user" && inputId === undefined && runId !== undefined;
  return {
    type: "item_committed",
    itemId: item.id,
    ...(inputId === undefined ? {} : { inputId }),
    ...(corrects ? { correction: true } : {}),
    ...(item.author === "model" ? { reply: replyOutline(item) } : {}),
    ...ranOf(item),
    ...(item.stop === "aborted" && item.author !== "tool" ? { aborted: true } : {}),
  };
}

/** A lost call is answered as `unknown` without its result, and may have run. */
function ranOf({ author, parts }: Item): { readonly ran?: string } {
  if (author !== "tool") return {};
  const result = parts.find(({ kind }) => kind === "tool_result");
  if (result?.kind !== "tool_result") return {};
  const { tool, synthetic, status } = result;
  return synthetic === true && status !== "unknown" ? {} : { ran: tool };
}

function replyOutline(item: Item): ReplyOutline {
  const answered = new Set<CallId>();
  for (const part of item.parts) if (part.kind === "tool_result") answered.add(part.callId);
  const calls = item.parts.flatMap((part): CallOutline[] => {
    if (part.kind !== "tool_call") return [];
    const settled = answered.has(part.callId);
    answered.add(part.callId); // the result of the first call also answers a second one of that id
    const { callId, tool } = part;
    return [{ callId, tool, print: printOf(part), ...(settled ? { settled } : {}) }];
  });
  const { stop, cause, usage } = item;
  const tokens = usage === undefined ? 0 : spentOf(usage).tokens;
  return { stop, ...(cause === undefined ? {} : { cause: cause.code }), tokens, calls };
}

export function spentOf({ inputTokens, outputTokens, cost }: Usage): Spent {
  return { tokens: inputTokens + outputTokens, cost };
}

/**
 * A short hash of a call: equal for calls of one tool with equal input. Keeps the state small. Not
 * cryptographic, because only the detection of repeated calls uses it.
 */
function printOf({ tool, input, raw }: ToolCallPart): string {
  return digest(`${tool}\n${input === undefined ? raw : inOrder(input)}`);
}

/** JSON with sorted keys, so that the order in which a model writes them does not matter. */
function inOrder(input: JsonObject): string {
  return JSON.stringify(input, (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** 64 bits of the text by FNV-1a, in two halves. */
function digest(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x1000193;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b);
  }
  return `${(high >>> 0).toString(36)}.${(low >>> 0).toString(36)}`;
}
