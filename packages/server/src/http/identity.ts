import type { Metadata } from "./types.ts";

/** Whom a request acts for, as `authenticate` gives it. The tenant comes from here and nowhere else. */
export interface Identity {
  readonly tenant: string;
  readonly user: string;
  /** `admin` and `service` mean what the role table says. Others are for `authorize`. */
  readonly roles?: readonly string[] | undefined;
  /** Milliseconds since 1970 after which this identity is refused and its open streams end. */
  readonly expiresAt?: number | undefined;
}

/** What a request does to a session. `authorize` is asked for one of these. */
export type SessionAction = "create" | "list" | "read" | "send" | "decide" | "stop" | "manage";

/** What `authorize` gets of a session. For `create` it is the session that would be made, for `list` one without an id. */
export interface ServedSession {
  readonly id: string;
  readonly tenant: string;
  /** Empty for a session that was made in process without an owner. */
  readonly owner: string;
  readonly metadata: Metadata;
  /** Set for a sub-agent's session. `authorize` is asked with its root, so this is for lists only. */
  readonly parent?: { readonly sessionId: string; readonly callId: string } | undefined;
}
