import type { CallId, ItemId } from "../ids.ts";
import { arrange } from "./arrange.ts";
import type { Item } from "./item.ts";

/**
 * The committed items of a session. What a model is given obeys one law: each call is answered
 * exactly once, either inside the item that calls, or right behind it, by items of author `tool`, in
 * the order of the calls. A transcript that breaks it is refused by every vendor, for ever after.
 */
export type Transcript = readonly Item[];

export type TranscriptFaultCode =
  | "unanswered_call"
  | "answered_twice"
  | "result_without_call"
  /** The answer is there, but not in its place: something stands between, or it came too early. */
  | "out_of_order"
  /** One item calls twice under one id: the two can't be distinguished. */
  | "duplicate_call"
  | "duplicate_item";

/** One place where a transcript breaks the law: the item, and the call if it is about one. */
export interface TranscriptFault {
  readonly code: TranscriptFaultCode;
  readonly itemId: ItemId;
  readonly callId?: CallId;
}

/** The places where the law is broken. Empty for a transcript that any vendor accepts. */
export function checkTranscript(items: Transcript): readonly TranscriptFault[] {
  return arrange(items).faults;
}

/**
 * Makes the law hold and returns what it changed. Answers move behind their calls; an unanswered call
 * gets a result marked `synthetic` with the reason; second answers and answers to nothing are left out.
 * Linear in the number of parts. A legal transcript comes back as the same array.
 */
export function repairTranscript(items: Transcript): {
  readonly items: Transcript;
  readonly repairs: readonly TranscriptFault[];
} {
  const { arranged, faults } = arrange(items);
  return { items: faults.length === 0 ? items : arranged(), repairs: faults };
}
