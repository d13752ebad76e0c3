import type {
  Cause,
  Delta,
  Json,
  JsonObject,
  Model,
  PartId,
  ResultStatus,
  Usage,
} from "@millrace/core";
import type { VendorTool } from "@millrace/core/model";
import type { ModelRequest } from "@millrace/core/ports";
import type { ArgumentFault, CommitPart, Ending } from "@millrace/core/writing";
import type { SettingsTable } from "./settings.ts";

/**
 * The pure translation of one family of vendor APIs, in both directions. It never sees a socket, a
 * clock or a chunk of bytes: a framing has cut the bytes into events, so that the same events give
 * the same operations however they arrived.
 */
export interface Protocol<Event, State> {
  /**
   * For example `anthropic-messages`. Opaque data in a transcript goes back only to the protocol
   * with this id.
   */
  readonly id: string;
  readonly initial: (context: ReplyContext) => State;
  /** Translates one event. Never throws: an invalid event is a `failure`. */
  readonly step: (state: State, event: Event) => Translated<State>;
  /**
   * The events of a reply that came whole, as JSON, though a stream was asked for: some servers can't
   * stream. Undefined if the JSON is no reply. Left out, such an answer is a failure.
   */
  readonly whole?: (body: JsonObject) => readonly Event[] | undefined;
  /**
   * Decides how the reply ended. Called once, in every case. The only place where success is
   * proved.
   */
  readonly halt: (state: State, end: StreamEnd) => Halt;
  /**
   * Builds the request for a transcript, whichever vendor wrote its items. Everything given is in it;
   * for what the vendor does not take it throws a `RequestRefusal`.
   */
  readonly request: (request: ModelRequest, target: RequestTarget) => WireRequest;
  /**
   * How `request` takes the settings that all vendors share. Left out: `request` gets the settings as they
   * were given, and decides.
   */
  readonly settings?: SettingsTable;
  /** What of a conversation may change by updates behind its items, by model, as a model's `appends`. */
  readonly appends?: (model: string) => Model["appends"];
  /** Whether what the model thought is valid only behind what stood before it then. Left out: it is not. */
  readonly bindsReasoning?: (model: string) => boolean;
  /** Whether it summarises on request, as a model's `summarises`. */
  readonly summarises?: (model: string) => boolean;
  /**
   * True if what only the vendor can read of a reply is valid at one endpoint and for one organization.
   * Left out: the vendor reads it wherever it comes from, or leaves it out itself.
   */
  readonly scopesReasoning?: boolean;
  /**
   * The feature for which the vendor refused a request, if a request can do without it and it is not among
   * those that are off. The vendor is asked again at once, and `RequestTarget.off` has the feature from then on.
   */
  readonly refusedFeature?: (
    cause: Cause,
    off: ReadonlySet<string>,
    sent: SentRequest,
  ) => string | undefined;
  /**
   * The vendor's own tool of a kind, or undefined if this model is offered it as an ordinary function.
   * Left out: the vendor has no such tools.
   */
  readonly nativeTool?: (tool: VendorTool, model: string) => NativeTool | undefined;
}

/** A tool that the vendor defines and the caller runs, as the vendor knows it. */
export interface NativeTool {
  /** The names that calls of it have, the tool's own first. Other tools can't have them. */
  readonly names: readonly string[];
  /** The entry in the request's list of tools. Left out: it needs none. */
  readonly declaration?: JsonObject;
  /** Features that the request has to name in a header. */
  readonly betas?: readonly string[];
  /**
   * The portable input of a call; undefined if the vendor's can't be read, and then it is kept as it is.
   * Left out: the protocol's calls have the portable input already.
   */
  readonly read?: (input: JsonObject, name: string) => JsonObject | undefined;
}

/** What a protocol is given before the first event. */
export interface ReplyContext {
  /** The vendor's name of the model. */
  readonly model: string;
  /** Names of the offered tools. */
  readonly tools: readonly string[];
  /** Ids of calls in the transcript. A new call must not reuse one. */
  readonly takenCallIds: ReadonlySet<string>;
  /** The vendor's own tools that are offered, by each name that a call of them may have. */
  readonly native?: ReadonlyMap<string, NativeTool>;
}

/** The result of one event. */
export interface Translated<State> {
  readonly state: State;
  readonly operations: readonly Operation[];
  /**
   * `over`: nothing follows, so the connection can be closed. `alive`: a sign of life without
   * progress. `unknown`: an event that this version does not know; it is reported and skipped. `settled`:
   * the reply is complete, and only facts about it may follow, such as its usage; they are waited for
   * briefly.
   */
  readonly sign?: "over" | "alive" | "unknown" | "settled";
  /** The vendor reported an error or violated its own protocol. Reading stops here. */
  readonly failure?: Cause;
}

/**
 * A delta, or a request to commit a part. A protocol never assembles a part itself: the reply
 * reader does, with the fold's `commitOf`.
 */
export type Operation = Exclude<Delta, CommitPart> | ClosePart;

/** Ends a part with its streamed content. */
export interface ClosePart {
  readonly op: "close_part";
  readonly partId: PartId;
  /**
   * The vendor's own full text. A suffix that was not streamed is appended first. White space around
   * it may differ, and of arguments the way of writing. Any other difference fails the reply, because
   * what was streamed can't be taken back; only reasoning keeps what was streamed.
   */
  readonly whole?: string;
  /** For reasoning and calls: data that the vendor requires back unchanged. */
  readonly opaque?: Json;
  /** For calls: the arguments can't be used, even if they parse. */
  readonly fault?: ArgumentFault;
  /** For results of tools that the vendor runs. */
  readonly status?: ResultStatus;
  readonly output?: Json;
  /** For media and files that the vendor keeps at a URL. */
  readonly url?: string;
}

/**
 * How the events ended. `over`: a sign reported it. `eof`: the bytes ended, which is never evidence
 * of success. `aborted`: by the user. `cut`: by the transport or a clock. `failed`: by a `failure`
 * of `step`, after which no evidence counts.
 */
export type StreamEnd =
  | { readonly kind: "over" | "eof" | "aborted" }
  | { readonly kind: "cut" | "failed"; readonly cause: Cause };

/** The last operations, and the ending. The reply reader cuts the parts that stay open. */
export interface Halt {
  readonly operations: readonly Operation[];
  readonly ending: Ending;
  readonly usage?: Usage;
  /** How many calls never got the name of a tool. They have no part: no tool could be asked. */
  readonly namelessCalls?: number;
}

/** What a protocol needs to know of the model that is asked. */
export interface RequestTarget {
  /** The vendor's name of the model. */
  readonly model: string;
  /** Features that this vendor has refused before. */
  readonly off?: ReadonlySet<string> | undefined;
}

/** A request as it was sent. */
export interface SentRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request in the vendor's form. The provider adds the endpoint and the key. */
export interface WireRequest {
  /** Appended to the base URL, for example `/v1/messages`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}
