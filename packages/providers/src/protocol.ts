import type { Cause, Delta, Json, JsonObject, PartId, ResultStatus, Usage } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { ArgumentFault, CommitPart, Ending } from "@millrace/core/writing";

/**
 * The pure translation of one vendor API family, in both directions. It never sees a socket, a clock
 * or a chunk of bytes: a framing has cut the bytes into events before, so the same events give the
 * same operations, however they came.
 */
export interface Protocol<Event, State> {
  /** As `anthropic-messages`. Opaque data in a transcript goes back to the protocol of this name only. */
  readonly id: string;
  readonly initial: (context: ReplyContext) => State;
  /** Takes one event. Never throws: an event that makes no sense is a `failure`. */
  readonly step: (state: State, event: Event) => Translated<State>;
  /** Says what the reply came to. Called once, whatever happened: this is where success is proved. */
  readonly halt: (state: State, end: StreamEnd) => Halt;
  /** The request for a transcript, whichever vendor wrote its items. */
  readonly request: (request: ModelRequest, target: RequestTarget) => WireRequest;
}

/** What a protocol knows of a reply before its first event. */
export interface ReplyContext {
  /** The vendor's name of the model. */
  readonly model: string;
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
  /** Ids of calls in the transcript, which a new call must not use again. */
  readonly takenCallIds: ReadonlySet<string>;
}

/** What one event came to. */
export interface Translated<State> {
  readonly state: State;
  readonly operations: readonly Operation[];
  /**
   * `over`: the vendor said that nothing follows, so the connection can be closed. `alive`: a sign of
   * life and no progress. `unknown`: nothing that this version knows; it is reported and passed over.
   */
  readonly sign?: "over" | "alive" | "unknown";
  /** The vendor reported an error or broke its own protocol. Reading stops here. */
  readonly failure?: Cause;
}

/**
 * A delta, or the wish to commit a part. A protocol never assembles a part itself: whoever folds the
 * deltas does, with the fold's own `commitOf`.
 */
export type Operation = Exclude<Delta, CommitPart> | ClosePart;

/** Ends a part with what was streamed into it. */
export interface ClosePart {
  readonly op: "close_part";
  readonly partId: PartId;
  /**
   * The vendor's own full text. A suffix that was not streamed yet is appended first; anything else
   * that differs from what was streamed is a broken protocol.
   */
  readonly whole?: string;
  /** For reasoning and calls: what the vendor wants back untouched. */
  readonly opaque?: Json;
  /** For calls: the arguments can't be used, though they may look it. */
  readonly fault?: ArgumentFault;
  /** For results of tools that the vendor runs. */
  readonly status?: ResultStatus;
  readonly output?: Json;
  /** For media and files that the vendor keeps at an address. */
  readonly url?: string;
}

/**
 * How the events ended. `over`: a sign said so. `eof`: the bytes ended, which is never evidence of
 * success. `aborted`: by our user. `cut`: by the transport or a clock. `failed`: by a `failure` of
 * `step`, after which no evidence counts.
 */
export type StreamEnd =
  | { readonly kind: "over" | "eof" | "aborted" }
  | { readonly kind: "cut" | "failed"; readonly cause: Cause };

/** The last operations, and the ending. Parts that stay open are cut by whoever folds. */
export interface Halt {
  readonly operations: readonly Operation[];
  readonly ending: Ending;
  readonly usage?: Usage;
}

/** What a protocol needs to know of the model that is asked. */
export interface RequestTarget {
  /** The vendor's name of the model. */
  readonly model: string;
}

/** A request as the vendor wants it. The provider adds the endpoint and the key. */
export interface WireRequest {
  /** Behind the endpoint's base address, as `/v1/messages`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}
