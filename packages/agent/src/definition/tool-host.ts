import type { Usage, ViewApproval } from "@millrace/core";
import type {
  BlobStore,
  Clock,
  EventLog,
  MakeId,
  SessionRecord,
  SessionStore,
} from "@millrace/core/ports";

/** What a tool uses to run a sub-agent: the parent's session, its ports, and its budget. */
export interface ToolHost {
  readonly parent: Pick<SessionRecord, "uid" | "owner">;
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly blobs?: BlobStore | undefined;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly random: () => number;
  /** How many agents are above the sub-agent. */
  readonly depth: number;
  readonly allowance: Allowance;
  readonly ask: AskMode;
  /** True once the parent's session was closed or taken over. Then the sub-agent is closed, not stopped. */
  readonly left: () => boolean;
  /** Aborted when the parent's session is closed in this process. Until then a store that is away is waited for. */
  readonly closing: AbortSignal;
}

/** `deny`: approval requests are denied at once. `wait`: a person answers through the session. */
export type AskMode = "deny" | "wait" | AskPerson;

/** Answers an approval request. A function that throws denies. */
export type AskPerson = (approval: ViewApproval) => "allow" | "deny" | Promise<"allow" | "deny">;

/** A budget that several runs share: that of a parent's run for its sub-agents, or of a whole session. */
export interface Allowance {
  /** The limit that is reached, if any. Checked before each request. */
  readonly exhausted: () => string | undefined;
  /** Adds usage to it. Resolves once it is stored. */
  readonly spend: (usage: Usage) => Promise<void>;
}
