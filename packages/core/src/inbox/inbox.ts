import type { Part } from "../content/part.ts";
import type { Actor, TraceContext } from "../event/event.ts";
import type { Json, JsonObject } from "../json.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { MakeId } from "../ports/clock.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { SessionStore } from "../ports/session-store.ts";
import type { InboxStart } from "./inbox-state.ts";
import type { Decided, Posted, Refused, Stopped } from "./posted.ts";

/** Where an inbox writes, and the defaults of its calls. */
export interface InboxOptions {
  /** The calls that an inbox makes: it can't claim, open or append. */
  readonly store: Pick<SessionStore, "accept" | "read" | "key">;
  /** An outage of it is no failure of a post: writers find what is stored when they read the head. */
  readonly log: Pick<EventLog, "setKey" | "announce" | "nudge">;
  /** The session's, from its record. */
  readonly uid: string;
  /** Where bytes of more than 32 KiB go. Left out: they stay in the input. */
  readonly blobs?: BlobStore | undefined;
  /** The tenant of the session, for its place in the blob store. From its record. */
  readonly tenant?: string | undefined;
  /** Makes the ids of inputs without a key. Left out: at random. */
  readonly makeId?: MakeId | undefined;
  /** The person for whom calls are made, unless a call names another. */
  readonly actor?: Actor | undefined;
  /** The session as the caller has just read it. Left out, or without an answer: all facts are read. */
  readonly start?: (() => Promise<InboxStart | undefined>) | undefined;
  /**
   * The tools that clients carry out. Left out: the answer to a call that did not begin is taken, and has no effect
   * if a process carries the call out.
   */
  readonly clientTools?: (() => Promise<ReadonlySet<string>>) | undefined;
}

/**
 * Sends inputs to a session without driving it: no agent, no model, no tools. Calls of one inbox
 * are stored in the order in which they were made. No promise of it rejects, and what was accepted is
 * durable. `send`, `steer` and `followUp` need a key to be repeated; the other calls are once by
 * nature, so there a key adds nothing, but for an `abort` that names no run.
 */
export interface Inbox {
  /** A prompt, which begins a run. */
  readonly send: (content: InputContent, options?: InboxSendOptions) => Promise<Posted | Refused>;
  /** An input for the run that is on, taken up at its next consistent boundary. */
  readonly steer: (content: InputContent, options?: InboxSendOptions) => Promise<Posted | Refused>;
  /** An input for after the natural end of the run that is on. */
  readonly followUp: (
    content: InputContent,
    options?: InboxSendOptions,
  ) => Promise<Posted | Refused>;
  /** Takes an input back that still waits. Again: accepted. Once it is an item: `settled`. */
  readonly takeBack: (inputId: string, options?: PostOptions) => Promise<Posted | Refused>;
  /** Answers a question with yes. The same decision again: accepted. Another one: `settled`. */
  readonly allow: (approvalId: string, options?: DecideOptions) => Promise<Decided | Refused>;
  /** Answers a question with no. */
  readonly deny: (approvalId: string, options?: DecideOptions) => Promise<Decided | Refused>;
  /**
   * Answers a call that a client carries out. The same answer again: accepted. Another one, or one to
   * a call that is over: `settled`. One to a call that waits for a decision, or that a process carries out:
   * `invalid`. A driver checks its shape.
   */
  readonly answer: (
    call: AnsweredCall,
    answer: CallAnswer,
    options?: PostOptions,
  ) => Promise<Posted | Refused>;
  /**
   * Stops a run, or takes back the prompt that would begin it. Without a run it means the one that is
   * on, else the next that would begin. One stop is stored for a run, however often it is asked for.
   */
  readonly abort: (options?: AbortOptions) => Promise<Stopped | Refused>;
  /** Resolves when all that was stored is announced, or could not be. For a process that is about to end. */
  readonly announced: () => Promise<void>;
}

/** One text, or parts in order; or a function that gives them when the input's turn has come. */
export type InputContent = string | readonly Part[] | (() => Promise<string | readonly Part[]>);

/** What every call takes. */
export interface PostOptions {
  /**
   * The caller's name for this call: 1 to 128 letters, digits or "-", kept for repeats. Its scope is
   * the session, its life is the session's. A call that was refused does not use up its key.
   */
  readonly key?: string | undefined;
  /** The person for whom the call is made. A repeat by another one is still a repeat. */
  readonly actor?: Actor | undefined;
}

export interface InboxSendOptions extends PostOptions {
  /** What the sender asks of the run, such as limits. Read by the driver. */
  readonly options?: JsonObject | undefined;
  /** The span of the request by which it comes. The run that it begins is part of that trace. */
  readonly trace?: TraceContext | undefined;
}

export interface DecideOptions extends PostOptions {
  readonly reason?: string | undefined;
  /** The hash that was shown with the question. If the stored one is another: `hash_mismatch`. */
  readonly hash?: string | undefined;
}

export interface AbortOptions extends PostOptions {
  readonly runId?: string | undefined;
  readonly reason?: string | undefined;
}

export interface AnsweredCall {
  readonly callId: string;
  /** The item that holds the call. Left out: the latest one with a call of this id. */
  readonly itemId?: string | undefined;
}

/** What came of a call, or why it failed. */
export type CallAnswer = { readonly output: Json } | { readonly error: string };
