import type { Usage, ViewApproval } from "@millrace/core";
import type { Clock, EventLog, MakeId, SessionStore } from "@millrace/core/ports";

/** What a tool needs to run an agent of its own inside its parent's session and budget. */
export interface ToolHost {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** How many agents stand above this one. */
  readonly depth: number;
  readonly allowance: Allowance;
  readonly ask: AskMode;
  /** True once the session was closed or taken over: then nothing is stopped, it is only let go. */
  readonly left: () => boolean;
}

/** `deny`: there is nobody to ask. `wait`: somebody who watches will answer. */
export type AskMode = "deny" | "wait" | AskPerson;

/** Asks whoever started the run. */
export type AskPerson = (approval: ViewApproval) => "allow" | "deny" | Promise<"allow" | "deny">;

/** A budget that is somebody else's: asked before each spend, told after it. */
export interface Allowance {
  /** The limit that is reached, if one is. */
  readonly exhausted: () => string | undefined;
  /** Settles once it is stored. */
  readonly spend: (usage: Usage) => Promise<void>;
}
