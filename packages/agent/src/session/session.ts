import type { SessionConnection, SessionId } from "@millrace/core";
import type {
  AnyTools,
  ApprovalOf,
  Cursor,
  Earlier,
  FollowedSession,
  ItemOf,
  ViewOf,
} from "@millrace/core/reading";
import type { Limits } from "../definition/limits.ts";
import type { Observer } from "../definition/observer.ts";
import type { OutputFor, Schema } from "@millrace/core/schema";
import type { Content, SendOptions, Sent, SentInput } from "./input.ts";
import type { Run } from "./run.ts";

/** Options of one run. */
export interface RunOptions<
  Tools extends AnyTools = AnyTools,
  S extends Schema | undefined = undefined,
> extends SendOptions {
  /** Asks for one JSON value that matches this schema. `result.output` is the parsed value. */
  readonly output?: S;
  /**
   * `true`: the vendor holds the model to the schema, where it can. Models that check what stands before
   * their thinking are asked in words otherwise, because the vendor's field is part of the key of its cache.
   */
  readonly strict?: boolean | undefined;
  readonly limits?: Limits | undefined;
  /** Answers approval requests. Left out: `agent.run` denies them; a session waits for `allow` or `deny`. */
  readonly ask?:
    | ((approval: ApprovalOf<Tools>) => "allow" | "deny" | Promise<"allow" | "deny">)
    | undefined;
  /**
   * Observers of this run, called after the agent's and by the same contract. They exist in this process
   * only: if another process drives the run, they get its facts and no live events.
   */
  readonly observers?: readonly Observer[] | undefined;
  /** Stops the run when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Where a watch starts, and when it ends. */
export interface SessionWatchOptions {
  /** The last cursor of each watched session. A session without one starts with a snapshot. */
  readonly cursors?: readonly Cursor[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Which earlier items are read. */
export interface EarlierOptions {
  /** The `earlier` of the page before. Left out: that of the session. */
  readonly earlier?: Earlier | undefined;
  /** 50 if left out. */
  readonly limit?: number | undefined;
}

/** Earlier items in their order. Without `earlier` they are the first ones of the session. */
export interface EarlierPage<Tools extends AnyTools = AnyTools> {
  readonly items: readonly ItemOf<Tools>[];
  readonly earlier?: Earlier;
}

/** Options of an allowance. */
export interface AllowOptions extends SendOptions {
  /**
   * The hash of the question that the person was shown. Refused if the question has another one. Left out:
   * the question is allowed as it stands.
   */
  readonly hash?: string | undefined;
}

/** The session of a sub-agent: only what people may send to it. The driver of its parent drives it. */
export type ChildSession = Pick<Session, "allow" | "deny" | "answer">;

/**
 * An open conversation. It can be closed and opened again in any process. The state (items, approvals,
 * queue, …) is computed each time it is read. Functions that send return at once; `accepted` settles
 * when the input is stored. All functions are bound.
 */
export interface Session<Tools extends AnyTools = AnyTools> extends ViewOf<Tools>, AsyncDisposable {
  readonly id: SessionId;
  /** The tenant in whose store the session is. `default` for a store without tenants. */
  readonly tenant: string;
  /** Queues a prompt. Its run begins at once, or after the current run has ended. */
  readonly send: <S extends Schema | undefined = undefined>(
    content: Content,
    options?: RunOptions<Tools, S>,
  ) => Run<Tools, OutputFor<S>>;
  /** Queues an input for the current run. Used before its next request, never between a call and its result. */
  readonly steer: (content: Content, options?: SendOptions) => SentInput;
  /** Queues an input that the same run uses after its answer is complete. */
  readonly followUp: (content: Content, options?: SendOptions) => SentInput;
  /** Removes an input from the queue. Refused once a run has used it. */
  readonly takeBack: (inputId: string, options?: SendOptions) => Sent;
  /** Allows a call of `approvals`. */
  readonly allow: (approvalId: string, options?: AllowOptions) => Sent;
  /** Denies a call of `approvals`. The model gets the reason. */
  readonly deny: (approvalId: string, reason?: string, options?: SendOptions) => Sent;
  /**
   * Answers a call of a tool that clients run: `{ output }` is its result, `{ error }` is the reason of
   * its failure. Any other value is the output itself. Wrap an output of one of these forms in
   * `{ output }`.
   */
  readonly answer: (callId: string, answer: unknown, options?: SendOptions) => Sent;
  /** Stops the current run. Without one, takes back the prompt that would begin the next. */
  readonly abort: (reason?: string, options?: SendOptions) => Sent;
  /**
   * How this process learns of new facts. `live`: the log announces them. `polling`: the log is away, and
   * the store is asked every second. `waiting`: the store is away. Runs, sending and results wait for it;
   * nothing is lost, and `status` and the items stay what they were. Observers get each change as a
   * `connection_changed` event.
   */
  readonly connection: SessionConnection;
  /** The current run, also one that another process began. */
  readonly run: Run<Tools> | undefined;
  /** The items that this process has loaded: all of them, unless `earlier` names some that it has not. */
  readonly transcript: readonly ItemOf<Tools>[];
  /** All items, the earlier ones read from the store by page. Costs the whole session. Rejects if the store fails. */
  readonly history: () => Promise<readonly ItemOf<Tools>[]>;
  /** One page of the items before `earlier`, with what comes before it. Rejects if the store fails. */
  readonly readEarlier: (options?: EarlierOptions) => Promise<EarlierPage<Tools>>;
  /**
   * Follows the session and its sub-agents' sessions from the given cursors on, until the session is
   * closed. Each message has the id of its session. Ending the iteration does not stop the run. A store
   * or a log that is away is waited for.
   */
  readonly watch: (options?: SessionWatchOptions) => AsyncIterable<FollowedSession>;
  /** The session of a sub-agent, by the id from `watch`, to answer its approval requests and calls. */
  readonly child: (sessionId: string) => ChildSession;
  /** Makes a new session with the items of this one up to and including the given item. */
  readonly fork: (itemId: string, id?: string) => Promise<Session<Tools>>;
  /** Closes the session in this process. A run in progress is released: the next driver resumes it. */
  readonly close: () => Promise<void>;
}
