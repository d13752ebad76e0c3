import type { BlobStore, Clock, EventLog, SessionRecord, SessionStore } from "@millrace/core/ports";
import type { Hub } from "../hub/hub.ts";
import type { ClientTools, RunHost } from "../runs/run-host.ts";
import type { SessionAction, Identity, ServedSession } from "./identity.ts";
import type { Answer } from "./answer.ts";
import type { RouteLimits } from "./route-limits.ts";
import type { Metadata } from "./types.ts";

/** What a tenant's requests work with. */
export interface TenantPorts {
  readonly tenant: string;
  /** Opened for the tenant, so that nothing else can be read through it. */
  readonly store: SessionStore;
  readonly log: EventLog;
  /** One store for all tenants: a blob's place names the tenant. */
  readonly blobs: BlobStore;
  readonly hub: Hub;
  readonly runs: RunHost;
}

/** A session of the caller's tenant that the authoriser is asked about before it is there. */
export type AskedSession = Omit<ServedSession, "tenant" | "parent">;

/** A limit that is reached. */
export interface ReachedLimit {
  readonly policy: string;
  readonly limit: number;
  /** Until it is free again. */
  readonly seconds: number;
}

/** What is counted beyond one request. */
export interface Quotas {
  /** Whether this owner may have one more session. */
  readonly hasRoom: (owner: string) => Promise<boolean>;
  /** Counts a session that was made for this owner. */
  readonly made: (owner: string) => void;
  /** The limit on spend that the owner of a session, or the tenant, has reached. */
  readonly overspent: (owner: string | undefined) => Promise<ReachedLimit | undefined>;
  /** Counts a session that the caller named and can't read, as a 404 does. Throws `rate_limited`. */
  readonly missed: () => Promise<void>;
}

/** What a route's function gets: a request that was admitted, and what it may use. */
export interface RouteContext extends TenantPorts {
  readonly who: Identity;
  /** The session of the path: found, and the caller may do the route's action. Set where the path names one. */
  readonly session: SessionRecord | undefined;
  /** The decoded parameters of the path, by name. */
  readonly params: Readonly<Record<string, string>>;
  /** The checked query: numbers and booleans as such. */
  readonly query: Readonly<Record<string, string | number | boolean | undefined>>;
  /** A header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** `Idempotency-Key` without quotes, checked. Set where the route needs one, or where it was sent. */
  readonly key: string | undefined;
  /** JSON of the route's shape. Undefined where the request has no JSON. */
  readonly body: unknown;
  /** The bytes of a body that is no JSON, at most as long as the route allows. */
  readonly bytes: AsyncIterable<Uint8Array> | undefined;
  /** `stream` if the answer is to be server-sent events. */
  readonly form: "json" | "stream";
  /** Milliseconds of `Prefer: wait`, within the limit. 0: none. */
  readonly waitMs: number;
  /** Aborted when the client is gone, or when waits are to answer with what is (drain). Stops nothing but waiting. */
  readonly signal: AbortSignal;
  /** Finds a session by an id from a body and asks for an action. Undefined: missing or not allowed to read. */
  readonly open: (sessionId: string, action: SessionAction) => Promise<SessionRecord | undefined>;
  /**
   * Asks the authoriser about what is no session yet: the one that would be made, or a list, which is a session
   * without an id. Throws `forbidden`.
   */
  readonly admit: (action: "create" | "list", session: AskedSession) => Promise<void>;
  /** Asks the authoriser about a session as this metadata would leave it. Throws `forbidden`. */
  readonly admitMetadata: (session: SessionRecord, metadata: Metadata) => Promise<void>;
  readonly limits: RouteLimits;
  /** The path from the root of its origin by which a page reaches the server. Empty: the root itself. */
  readonly publicPath: string;
  /** The names of the tools that clients of a session carry out. */
  readonly clientTools: ClientTools;
  /** Whether a file of an input may be at this address. */
  readonly acceptsUrl: (url: URL) => boolean;
  readonly quotas: Quotas;
  /** By the store's clock. */
  readonly now: () => number;
  /** Of this host: for waits, and for what is measured. */
  readonly clock: Clock;
  /** A name that nothing else has, such as the key of a request without one. */
  readonly uniqueName: () => string;
}

/** The work of one route. It throws a `Problem` to refuse. */
export type RouteWork = (context: RouteContext) => Promise<Answer>;
