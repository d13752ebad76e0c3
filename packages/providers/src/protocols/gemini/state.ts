import type { Json, JsonObject, PartId } from "@millrace/core";
import type { ClosePart, ReplyContext } from "../../protocol.ts";
import { noNotes } from "./notes.ts";
import type { Notes } from "./notes.ts";
import type { PartialArguments } from "./partial-arguments.ts";

/** What is known of a reply after some of its events. Two levels, since usage comes with each one. */
export interface GeminiState {
  readonly reply: ReplyState;
  /** The newest `usageMetadata` with counts in it. They are totals, so the last one holds. */
  readonly usage: JsonObject | undefined;
}

export interface ReplyState {
  /** Ids of calls, in the transcript and in this reply. */
  readonly taken: ReadonlySet<string>;
  /** How many parts and calls were begun. */
  readonly parts: number;
  readonly calls: number;
  /** Calls that came without a name, and whether more pieces of the last one will come. */
  readonly namelessCalls: number;
  readonly nameless: boolean;
  /** The part that goes on if the next one is of its kind: the vendor marks no borders. */
  readonly writing: Writing | undefined;
  /** The newest text. It stays open to the end, since what the vendor says of it comes last. */
  readonly text: OpenText | undefined;
  /** The call whose arguments are being streamed. */
  readonly call: OpenCall | undefined;
  /** Calls that are over by the vendor's word, and must not be closed as whole yet. */
  readonly held: readonly HeldCall[];
  /**
   * The newest code that the vendor runs, by its place among the parts, from 1: results have no other
   * reference to it, and ids of parts change on their way into a session.
   */
  readonly code: number | undefined;
  readonly notes: Notes;
  readonly facts: JsonObject | undefined;
  readonly finish: Finish | undefined;
  /** Why the prompt was blocked. */
  readonly block: JsonObject | undefined;
}

export interface Writing {
  readonly kind: "text" | "reasoning" | "sound";
  readonly id: PartId;
  /** Of a sound. */
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
  /** Whether any argument text was written, and whether it came in one piece. */
  readonly written: "nothing" | "values" | "whole";
}

export interface HeldCall {
  readonly close: ClosePart;
  /** Without any arguments: nothing but the end of the reply can show that this was all. */
  readonly empty: boolean;
}

export interface Finish {
  readonly reason: string;
  readonly message: string | undefined;
  readonly token: string | undefined;
  readonly safetyRatings: Json | undefined;
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
      block: undefined,
    },
    usage: undefined,
  };
}
