import type {
  AnyTools,
  ApprovalId,
  ApprovalOf,
  CallId,
  Cursor,
  FollowedSession,
  ItemId,
  ItemOf,
  SessionId,
  ViewOf,
} from "@millrace/core";
import type { Limits } from "../definition/limits.ts";
import type { Schema, SchemaOutput } from "../schema/schema.ts";
import type { Content, SendOptions, Sent, SentInput } from "./input.ts";
import type { Run } from "./run.ts";

export interface RunOptions<
  Tools extends AnyTools = AnyTools,
  S extends Schema | undefined = undefined,
> extends SendOptions {
  /** The answer is one JSON value of this shape; `result.output` is what the schema makes of it. */
  readonly output?: S;
  readonly limits?: Limits | undefined;
  /** Answers what a tool's policy puts to a person. Left out: `agent.run` denies, a session waits. */
  readonly ask?:
    | ((approval: ApprovalOf<Tools>) => "allow" | "deny" | Promise<"allow" | "deny">)
    | undefined;
  /** Stops the run when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

export type OutputFor<S> = S extends Schema ? SchemaOutput<S> : string;

/** From where on a session is watched, and until when. */
export interface WatchOptions {
  /** The last cursor of each session that was watched. Left out: each begins with a snapshot. */
  readonly cursors?: readonly Cursor[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The session of a sub-agent, as far as people answer it. It is driven with its parent. */
export type ChildSession = Pick<Session, "allow" | "deny" | "answer">;

/**
 * A conversation that can be left and taken up again. Its state (items, approvals, queue, …) is what
 * a screen shows, and is read anew each time. What is sent returns at once. All functions are bound.
 */
export interface Session<Tools extends AnyTools = AnyTools> extends ViewOf<Tools>, AsyncDisposable {
  readonly id: SessionId;
  /** Begins a run, or waits for the one that is on to end. */
  readonly send: <S extends Schema | undefined = undefined>(
    content: Content,
    options?: RunOptions<Tools, S>,
  ) => Run<Tools, OutputFor<S>>;
  /** Is taken up at the next consistent boundary: before the next request, never between a call and its result. */
  readonly steer: (content: Content, options?: SendOptions) => SentInput;
  /** Is taken up after the natural end, by the same run. */
  readonly followUp: (content: Content, options?: SendOptions) => SentInput;
  /** Takes an input back that has not been taken up yet. */
  readonly takeBack: (inputId: string, options?: SendOptions) => Sent;
  readonly allow: (id: ApprovalId, options?: SendOptions) => Sent;
  readonly deny: (id: ApprovalId, reason?: string, options?: SendOptions) => Sent;
  /**
   * Answers a call that a client carries out: `{ output }` is what came of it, `{ error }` is why it
   * failed. Anything else is the output itself; one that has this very form is given as `{ output }`.
   */
  readonly answer: (callId: CallId, answer: unknown, options?: SendOptions) => Sent;
  /** Stops the run that is on, or takes back the prompt that would begin the next one. */
  readonly abort: (reason?: string, options?: SendOptions) => Sent;
  /** The run that is on, also one that another process began. */
  readonly run: Run<Tools> | undefined;
  readonly transcript: readonly ItemOf<Tools>[];
  /**
   * All that happens in the session and in those of its sub-agents, from the given cursors on, without
   * end: each message says which session it is of. Leaving it stops nothing. Throws when the
   * subscription breaks; then watch again, from the last cursor of each session.
   */
  readonly watch: (options?: WatchOptions) => AsyncIterable<FollowedSession>;
  /** Speaks to a sub-agent's session, whose id `watch` gives: its questions are answered there. */
  readonly child: (sessionId: string) => ChildSession;
  /** A new session that begins with this one's items up to and including this one. */
  readonly fork: (itemId: ItemId, id?: string) => Promise<Session<Tools>>;
  /** Lets the session go: what is under way is left to be taken up again, with a fact that says so. */
  readonly close: () => Promise<void>;
}
