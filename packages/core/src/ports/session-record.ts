import type { BodyOf } from "../event/event.ts";
import type { CallId, SessionId, SessionUid } from "../ids.ts";
import type { Metadata } from "../json.ts";

/** What is known of a new session before its first fact. */
export interface CreateOptions {
  readonly sessionId: string;
  /** The user to whom it belongs: 1 to 256 UTF-16 units. Never changed. Left out: nobody. */
  readonly owner?: string | undefined;
  /** 1 to 512 UTF-16 units. */
  readonly title?: string | undefined;
  readonly metadata?: Metadata | undefined;
  /** Accepted in the same step, as its fact 1. Throws `invalid_event` for what an empty session refuses. */
  readonly first?: FirstInput | undefined;
}

/** The input with which a session begins, and its idempotency key. */
export interface FirstInput {
  readonly key: string;
  readonly body: PeopleFact;
}

/**
 * The call of a session for which a sub-agent works in a session of its own. Written by `SessionStore.open` with the
 * call's intent, and never changed. The uid decides whose child a session is: a name may be used again.
 */
export interface SessionParent {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly callId: CallId;
}

/** The name of a fork, what it has of its own, and where it leaves its source. */
export interface ForkOptions extends Omit<CreateOptions, "first"> {
  readonly n: number;
  readonly added?: readonly PeopleFact[] | undefined;
}

/** What is changed of a record. What is left out stays. */
export interface UpdateRequest {
  /** `null`: it has none any more. */
  readonly title?: string | null | undefined;
  /** In the place of all metadata before. */
  readonly metadata?: Metadata | undefined;
  /** Compare-and-set: the revision that the caller has read. */
  readonly revision?: number | undefined;
}

/** `moved`: the record has another revision than was given, and is as it was. */
export interface UpdateOutcome {
  readonly outcome: "updated" | "moved";
  readonly record: SessionRecord;
}

/** Which sessions are on a page. All that is given must hold. */
export interface PageQuery {
  readonly owner?: string | undefined;
  /** The sessions of this one's sub-agents. Left out: sessions that are no sub-agent's. */
  readonly parent?: string | undefined;
  readonly status?: SessionStatus | undefined;
  /** A part of the title, in small or capital letters. A session without a title has none. */
  readonly title?: string | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** 50 by default. */
  readonly limit?: number | undefined;
}

/** Some sessions, and where the next page begins. */
export interface SessionPage {
  readonly records: readonly SessionRecord[];
  /** Opaque. Left out: there are no more. */
  readonly next?: string | undefined;
}

/** Which sessions are listed. */
export interface ListOptions {
  /** Sessions whose id is after this one. The order is that of the ids' UTF-16 units. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** What a store holds of a session besides its facts. */
export interface SessionRecord {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** The tenant in whose store it is, by the store alone. Left out by a store without tenants: `default`. */
  readonly tenant?: string | undefined;
  readonly metadata: Metadata;
  readonly incarnation: number;
  readonly head: number;
  readonly owner?: string | undefined;
  readonly title?: string | undefined;
  readonly parent?: SessionParent | undefined;
  /** 1 for a new session. Raised by `update` alone, not by facts. */
  readonly revision: number;
  /** By the store's clock. Of a session that was made before records had it: the time of its first fact. */
  readonly createdAt: number;
  /** Of the last activity, by the store's clock: a person's fact, or a change of the status. */
  readonly updatedAt: number;
  readonly status: SessionStatus;
}

/**
 * What a session does, by its facts. `running`: a run is on, or an input waits for one. `paused`: the run
 * that is on waits for people alone, for their decisions or for the answers of clients. `idle`: neither.
 */
export type SessionStatus = "idle" | "running" | "paused";

/** The facts that people may store. */
export type PeopleFact = BodyOf<"input_accepted" | "queue_updated" | "approval_resolved">;
