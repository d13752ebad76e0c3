import type { SessionId } from "@millrace/core";
import type {
  AnyTools,
  ApprovalOf,
  Cursor,
  FollowedSession,
  ItemOf,
  ViewOf,
} from "@millrace/core/reading";
import type { Limits } from "../definition/limits.ts";
import type { Observer } from "../definition/observer.ts";
import type { Schema, SchemaOutput } from "../schema/schema.ts";
import type { Content, SendOptions, Sent, SentInput } from "./input.ts";
import type { Run } from "./run.ts";

/** What one run takes besides its prompt. */
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
  /**
   * See the events of this run, after the agent's observers and by the same contract. They live in this
   * process: if another one drives the run, they get its facts and no live events.
   */
  readonly observers?: readonly Observer[] | undefined;
  /** Stops the run when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** The type of `result.output`: what the schema gives, or the text if there is no schema. */
export type OutputFor<S> = S extends Schema ? SchemaOutput<S> : string;

/** From where on a session is watched, and until when. */
export interface SessionWatchOptions {
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
  /** Answers a question of `approvals` with yes. */
  readonly allow: (approvalId: string, options?: SendOptions) => Sent;
  /** Answers a question of `approvals` with no. The model is given the reason. */
  readonly deny: (approvalId: string, reason?: string, options?: SendOptions) => Sent;
  /**
   * Answers a call that a client carries out: `{ output }` is its result, `{ error }` is why it
   * failed. Anything else is the output itself; an output that has one of these forms is given as
   * `{ output }`.
   */
  readonly answer: (callId: string, answer: unknown, options?: SendOptions) => Sent;
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
  readonly watch: (options?: SessionWatchOptions) => AsyncIterable<FollowedSession>;
  /** Speaks to a sub-agent's session, whose id `watch` gives: its questions are answered there. */
  readonly child: (sessionId: string) => ChildSession;
  /** A new session that begins with this one's items up to and including this one. */
  readonly fork: (itemId: string, id?: string) => Promise<Session<Tools>>;
  /** Closes this handle. A run in progress waits for the next driver, with a fact that this one shut down. */
  readonly close: () => Promise<void>;
}
