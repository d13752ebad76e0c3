import type { Json, ViewItem } from "@millrace/core";
import type { ToldAttempt } from "../../shared/encode/shown-items.ts";

/** What a reader was sent of an item of the run. */
export interface ToldItem extends ToldAttempt {
  readonly parts: ToldPart[];
  /** The item when it was sent, and the questions then: what is the same is not looked at again. */
  view: ViewItem | undefined;
  asked: unknown;
}

/** What a reader was sent of a part. */
export interface ToldPart {
  readonly id: string;
  readonly kind: string;
  /** Characters that were sent. */
  sent: number;
  isDone: boolean;
  value?: Json | undefined;
  call?: ToldCall | undefined;
}

/** What a reader was sent of a call. */
export interface ToldCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The question that was sent last, and whether its answer was. */
  approvalId: string | undefined;
  isAnswered: boolean;
  /** What it came to, as far as that was sent. */
  outcome: string | undefined;
  /** What the tool reported while it ran. */
  message: string | undefined;
  sent: number;
  child: string | undefined;
}

/** An item of which nothing was sent. */
export function untold(id: string): ToldItem {
  return {
    id,
    epoch: undefined,
    isLive: false,
    n: undefined,
    parts: [],
    view: undefined,
    asked: undefined,
  };
}

/** A call of which nothing was sent but its name. */
export function untoldCall(toolCallId: string, toolName: string): ToldCall {
  return {
    toolCallId,
    toolName,
    approvalId: undefined,
    isAnswered: false,
    outcome: undefined,
    message: undefined,
    sent: 0,
    child: undefined,
  };
}
