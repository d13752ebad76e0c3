import type { Json, JsonObject, PartId } from "@millrace/core";
import type { ClosePart, ReplyContext } from "../../protocol.ts";
import { noNotes } from "./notes.ts";
import type { Notes } from "./notes.ts";
import type { PartialArguments } from "./partial-arguments.ts";

/** The state of a reply. Two levels, because usage arrives in every event. */
export interface GeminiState {
  readonly reply: ReplyState;
  /** The newest `usageMetadata` with counts. They are totals, so the last one is valid. */
  readonly usage: JsonObject | undefined;
}

export interface ReplyState {
  /** Ids of calls in the transcript and in this reply. */
  readonly taken: ReadonlySet<string>;
  /** The number of parts and calls begun. */
  readonly parts: number;
  readonly calls: number;
  /** Calls that came without a name, and whether more pieces of the last one will come. */
  readonly namelessCalls: number;
  readonly nameless: boolean;
  /** The part that continues if the next one has its kind: the vendor does not mark ends. */
  readonly writing: Writing | undefined;
  /** The newest text. Stays open to the end, because its notes arrive last. */
  readonly text: OpenText | undefined;
  /** The call whose arguments are being streamed. */
  readonly call: OpenCall | undefined;
  /** Calls that the vendor ended and that can't be closed as complete yet. */
  readonly held: readonly UnclosedCall[];
  /**
   * The newest code part, by its place among the parts, from 1. Results have no other reference to it,
   * and ids of parts change on their way into a session.
   */
  readonly code: number | undefined;
  readonly notes: Notes;
  readonly facts: JsonObject | undefined;
  readonly finish: Finish | undefined;
  /** The reasons of the events with content so far. */
  readonly stamp: Stamp | undefined;
  /** Why the prompt was blocked. */
  readonly block: JsonObject | undefined;
}

export interface Writing {
  readonly kind: "text" | "reasoning" | "sound";
  readonly id: PartId;
  /** For sound. */
  readonly mediaType?: string;
}

export interface OpenText {
  readonly id: PartId;
  readonly signature: string | undefined;
}

export interface OpenCall {
  readonly id: PartId;
  readonly tool: string;
  readonly vendorId: string | undefined;
  readonly signature: string | undefined;
  readonly partial: PartialArguments;
  /** Whether argument text was written, and whether in pieces or as a whole. */
  readonly written: "nothing" | "values" | "whole";
}

export interface UnclosedCall {
  readonly close: ClosePart;
  /** True without arguments: only the end of the reply proves that none were cut off. */
  readonly empty: boolean;
}

export interface Finish {
  readonly reason: string;
  readonly message: string | undefined;
  readonly token: string | undefined;
  readonly safetyRatings: Json | undefined;
  /** Where the content stands: before the reason, in its event, or behind it. */
  readonly content: "before" | "beside" | "behind";
}

/**
 * Old models and some gateways give a reason with each event, so it tells nothing of the end: in a
 * stream of theirs the reply is complete by a reason that stands alone, that differs, or that the
 * mark of a gateway follows.
 */
export interface Stamp {
  /** The reason of all of them; undefined if one had none or another. */
  readonly reason: string | undefined;
  readonly events: number;
}

export function initial({ takenCallIds }: ReplyContext): GeminiState {
  return {
    reply: {
      taken: takenCallIds,
      parts: 0,
      calls: 0,
      namelessCalls: 0,
      nameless: false,
      writing: undefined,
      text: undefined,
      call: undefined,
      held: [],
      code: undefined,
      notes: noNotes,
      facts: undefined,
      finish: undefined,
      stamp: undefined,
      block: undefined,
    },
    usage: undefined,
  };
}
