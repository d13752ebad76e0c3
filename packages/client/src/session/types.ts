import type { Cause, RunId, View } from "@millrace/core";
import type {
  Acceptance,
  AnyTools,
  ApprovalOf,
  Content,
  EventOf,
  RunResult,
  Sent,
  SentInput,
  ViewOf,
} from "@millrace/core/reading";
import type { OutputFor, Schema } from "@millrace/core/schema";
import type { ClientConnection } from "../stream/connector.ts";
import type { SessionChange } from "../stream/watched.ts";

/** What a screen shows of a session, with the state of the connection that brings it. */
export interface ClientView<Tools extends AnyTools = AnyTools> extends Omit<
  ViewOf<Tools>,
  "error"
> {
  readonly connection: ClientConnection;
  /** The number of the last fact that is shown, 0 before the first. A list has that of each session: `seenMarks`. */
  readonly head: number;
  /** Nothing came yet, and the session was not reported as missing. */
  readonly loading: boolean;
  /** Why the last run failed, or why the server shows nothing. */
  readonly error: Cause | undefined;
  /** Those that wait at the server, then those that are on their way to it. */
  readonly queue: View["queue"];
}

/** Options of a prompt. */
export interface ClientRunOptions<
  Tools extends AnyTools = AnyTools,
  S extends Schema | undefined = undefined,
> {
  /** An idempotency key: 16 to 128 letters, digits or "-". Left out: every call is stored. */
  readonly key?: string | undefined;
  /** Asks for one JSON value that matches this schema. `result.output` is the value, checked here. */
  readonly output?: S;
  readonly limits?: Readonly<Record<string, number | undefined>> | undefined;
  /**
   * Answers the run's questions, as long as this page is there; after a reload they wait for `allow` or
   * `deny`. A function that throws, or returns anything but `allow`, denies.
   */
  readonly ask?:
    | ((approval: ApprovalOf<Tools>) => "allow" | "deny" | Promise<"allow" | "deny">)
    | undefined;
  /** Stops the run when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A run of a session at a server. It goes on whatever becomes of this client. An iteration begins with the
 * next event that comes, and ends with the run; what a snapshot stands for, after a long break, is in no
 * event. Ending an iteration does not stop the run.
 */
export interface ClientRun<
  Tools extends AnyTools = AnyTools,
  Output = string,
> extends AsyncIterable<EventOf<Tools>> {
  readonly id: RunId;
  /** Settles once its prompt is stored or refused. Never rejects. */
  readonly accepted: Promise<Acceptance>;
  /**
   * Settles with what the server has of the run, or when the session or the client is closed. Never
   * rejects. Reading it watches the session until then.
   */
  readonly result: Promise<RunResult<Output>>;
  /** The text of the answer. Rejects with a `MillraceError` if the run did not complete. */
  readonly text: () => Promise<string>;
  /**
   * The text of the answer as it is written, from its beginning, also after a break. Throws a
   * `MillraceError` at the end if the run did not complete. Texts of several items are separated by an
   * empty line, and so is a text that is written anew: text can't be taken back.
   */
  readonly textStream: () => AsyncIterable<string>;
  /** The next event of a type. Rejects if the run ends without it. */
  readonly until: <Type extends EventOf["type"]>(
    type: Type,
  ) => Promise<Extract<EventOf<Tools>, { readonly type: Type }>>;
  /** Stops this run and keeps its content so far. */
  readonly abort: (reason?: string) => Sent;
}

/** A session's record, as the server gives it. */
export interface SessionDetails {
  readonly id: string;
  readonly title?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly owner?: string;
  readonly parent?: { readonly sessionId: string; readonly callId: string };
  readonly status: View["status"];
  readonly head: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * A session at a server, with the methods that it has in process. What it shows is as of the last message;
 * it is kept up to date while it has subscribers. Functions that send return at once, in order, and
 * `accepted` settles when the server has stored it. All functions are bound.
 */
export interface ClientSession<Tools extends AnyTools = AnyTools> extends ClientView<Tools> {
  readonly id: string;
  /** The same object until something changes: for stores of frameworks. */
  readonly view: () => ClientView<Tools>;
  /** Calls the listener after every change, once for what came together. The result ends it. */
  readonly subscribe: (listener: (view: ClientView<Tools>) => void) => () => void;
  /**
   * Calls the listener with every message that changes the session, before those of `subscribe`, for programs
   * that print what comes: `narrate(before, message)`. The result ends it.
   */
  readonly observe: (listener: (change: SessionChange) => void) => () => void;
  /** Queues a prompt; makes the session if there is none of this id. */
  readonly send: <S extends Schema | undefined = undefined>(
    content: Content,
    options?: ClientRunOptions<Tools, S>,
  ) => ClientRun<Tools, OutputFor<S>>;
  /** For the current run, before its next request. */
  readonly steer: (content: Content) => SentInput;
  /** For the current run, after its answer. */
  readonly followUp: (content: Content) => SentInput;
  /** Removes an input from the queue. Refused once a run has used it. */
  readonly takeBack: (inputId: string) => Sent;
  /** Allows a call of `approvals`, as it is shown. */
  readonly allow: (approvalId: string) => Sent;
  readonly deny: (approvalId: string, reason?: string) => Sent;
  /** The output of a call of a tool that clients run. */
  readonly answer: (callId: string, output: unknown) => Sent;
  /** The failure of a call of a tool that clients run. */
  readonly fail: (callId: string, message: string) => Sent;
  /** Stops the current run; without one, the prompt that would begin the next. Overtakes what waits. */
  readonly abort: (reason?: string) => Sent;
  /** The current run, also one that another client began. */
  readonly run: ClientRun<Tools> | undefined;
  /**
   * Loads the page of items before those that are shown, and shows them. Resolves to whether there are
   * still earlier ones. Rejects as `details` does. 50 if `limit` is left out, 200 at most.
   */
  readonly loadEarlier: (limit?: number) => Promise<boolean>;
  /**
   * The session of the sub-agent that works on a call, or did. Its questions are in its own `approvals`.
   * Undefined if the call has not begun. Which calls are sub-agents is known by their tools: of any other
   * tool that has finished the session is missing, so that its view is empty.
   */
  readonly child: (callId: string) => ClientSession | undefined;
  /**
   * Makes the session with a title or metadata before its first prompt, as for an agent that is chosen by
   * metadata. Rejects as `details` does, also if there is one of this id.
   */
  readonly create: (given?: {
    readonly title?: string | undefined;
    readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  }) => Promise<void>;
  /** Its record. Rejects with a `MillraceError` if it is refused, and when the client is closed. */
  readonly details: () => Promise<SessionDetails>;
  readonly update: (change: {
    readonly title?: string | undefined;
    readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  }) => Promise<void>;
  /**
   * Makes a new session with the items of this one up to and including the given item. Rejects as `details`
   * does.
   */
  readonly fork: (itemId: string, id?: string) => Promise<ClientSession<Tools>>;
  /** The whole session as a file. Rejects as `details` does. */
  readonly export: (format: "jsonl" | "markdown" | "html") => Promise<Blob>;
  /**
   * The bytes of a part that names a blob, with its media type. Rejects as `details` does. They may be of
   * anybody: show an image, offer all else for download, and open none of them as a page.
   */
  readonly blob: (hash: string) => Promise<Blob>;
  /** Stops its run and removes it for ever. */
  readonly remove: () => Promise<void>;
  /**
   * Ends its subscriptions, leaves the stream and forgets what it shows. Stops nothing: a run goes on, and
   * what was sent is still delivered. Subscribing again opens it again.
   */
  readonly close: () => void;
}
