import type { Agent, SessionInfo } from "@millrace/agent";
import type { TenantStore } from "@millrace/agent/worker";
import type { BlobStore, Clock, Counters, EventLog, SessionDriver } from "@millrace/core/ports";
import type { Authorize } from "../auth/authorize.ts";
import type { Authenticate } from "../auth/authenticator.ts";
import type { Dialect } from "../http/dialect.ts";
import type { ServerLimits } from "../http/route-limits.ts";
import type { Route } from "../http/route.ts";
import type { RequestLine } from "./exchange.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import type { EventResponse } from "../sse/sse-sink.ts";
import type { NodeRequest } from "./node.ts";
import type { MakeStore } from "./tenant-store.ts";

/** What a server is made of. Only the agent is needed; each other line is an upgrade of its own. */
export interface MillraceOptions<A extends Agent = Agent> {
  readonly agent: A | ((session: SessionInfo) => A | Promise<A>);
  /** Finds out whom a request acts for; nothing means no. Left out: local mode, for this machine alone. */
  readonly authenticate?: Authenticate | undefined;
  /** The one authoriser. Left out: the role table. */
  readonly authorize?: Authorize | undefined;
  /**
   * The sessions. A store with `forTenant` is opened for each tenant; a function makes one for each; a
   * plain store serves the tenant `default` alone. Left out: memory, one store for each tenant.
   */
  readonly store?: TenantStore | MakeStore | undefined;
  /** Live text. Left out: memory. */
  readonly log?: EventLog | undefined;
  /** Files. Left out: memory. */
  readonly blobs?: BlobStore | undefined;
  /**
   * Who drives the runs. Left out: this process. `false`: workers elsewhere; this process posts and reads. An
   * engine such as Temporal: this process also reports to it what was stored, and closes it with the server.
   */
  readonly driver?: SessionDriver | false | undefined;
  /** Counts of limits. Left out: of this process. */
  readonly counters?: Counters | undefined;
  /**
   * Signs tickets and names identities: 32 characters or more, the same in all processes. Left out: `MILLRACE_SECRET`,
   * else random for this process.
   */
  readonly secret?: string | undefined;
  /** The mount, where the host does not strip it from the path. */
  readonly basePath?: string | undefined;
  /**
   * The path by which pages reach the server, for the addresses of files in dialects. Needed where the host
   * strips its mount. Left out: `basePath`.
   */
  readonly publicPath?: string | undefined;
  /** Formats of other libraries, such as `aiSdk()` of `@millrace/dialects/ai-sdk`. Left out: none. */
  readonly dialects?: readonly Dialect[] | undefined;
  /** Origins whose pages may use the server. Left out: its own. */
  readonly origins?: readonly string[] | undefined;
  /** Names by which the server is reached. Left out: any, in local mode loopback. */
  readonly hosts?: readonly string[] | undefined;
  /** Whether pages of other origins send their cookies. */
  readonly cookies?: boolean | undefined;
  /** Whether `X-Forwarded-Host`, `X-Forwarded-Proto` and the last of `X-Forwarded-For` are believed. */
  readonly trustProxy?: boolean | undefined;
  /**
   * Whether a file that is sent may be at this address: a model's vendor reads it from there, and pages show it.
   * Left out: `https:` only.
   */
  readonly acceptsUrl?: ((url: URL) => boolean) | undefined;
  readonly limits?: Partial<ServerLimits> | undefined;
  readonly streams?: StreamSettings | undefined;
  /** Called once for each request. One that fails changes no answer, and logs a warning. */
  readonly onRequest?: ((line: RequestLine) => void) | undefined;
  /** For tests: the time of all that this server does, and of the runs that it drives. Left out: the machine's. */
  readonly clock?: Clock | undefined;
  /**
   * For tests: numbers in [0, 1) of which pauses, lifetimes of streams and ids are made. Ids are then as easy to guess
   * as it is; a secret is never made of it. Left out: the machine's.
   */
  readonly random?: (() => number) | undefined;
}

/** How streams live. */
export interface StreamSettings {
  /** After how long a stream is recycled, ± 10 %. Left out: 30 min ± 20 %. */
  readonly maxMs?: number | undefined;
  /**
   * How often a stream that has nothing to send sends a comment. Clients of Millrace give a connection up after
   * three times so long without a byte: less notices a lost network sooner, and costs a write for each viewer.
   * Left out: 15 s.
   */
  readonly heartbeatMs?: number | undefined;
  /**
   * A connection that takes no byte for so long while bytes wait is closed, at the earliest after half of it;
   * on Linux also one that is gone without a word. Left out: 60 s.
   */
  readonly stallMs?: number | undefined;
  /** How often open streams are asked about again, ± 12 %. At most 25 s, which is the default. */
  readonly recheckMs?: number | undefined;
  /** Bytes of items in a snapshot, unless a reader asks for other. */
  readonly budgetBytes?: number | undefined;
}

/** A server of sessions, as a handler for any host. All functions are bound. */
export interface Millrace<A extends Agent = Agent> extends AsyncDisposable {
  /** For hosts of the web's API: Hono, Next, Bun, Deno. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For `node:http`, Express, and HTTP/2's compatibility API. Streams are written to the socket. */
  readonly node: (request: NodeRequest, response: EventResponse) => void;
  /** The table of routes. */
  readonly routes: readonly Route[];
  /** The routes as an OpenAPI 3.1 document. */
  readonly openapi: () => OpenApiDocument;
  /** Ends the open streams of a user, or of a tenant, in this process. */
  readonly disconnect: (who: {
    readonly tenant: string;
    readonly user?: string | undefined;
  }) => void;
  /** Drains within 25 s, or `drainMs`: streams end by and by, waits answer with what is, runs are handed over. */
  readonly close: (options?: { readonly drainMs?: number | undefined }) => Promise<void>;
  /** The type of the agent, for clients. Never set. */
  readonly "~agent"?: A;
}
