/** A person or program, as the target's `authenticate` finds them in the headers that `as` made. */
export interface HttpWho {
  readonly tenant: string;
  readonly user: string;
  readonly roles?: readonly string[] | undefined;
  /** Milliseconds since 1970. In the past: the credentials are refused. */
  readonly expiresAt?: number | undefined;
}

/** Settings of one server, by the names of the limits and streams of the HTTP API. */
export interface HttpSettings {
  readonly limits?: Readonly<Record<string, number>> | undefined;
  readonly streams?: Readonly<Record<string, number>> | undefined;
  readonly origins?: readonly string[] | undefined;
  readonly hosts?: readonly string[] | undefined;
  readonly cookies?: boolean | undefined;
  /** `false`: nothing drives what this server stores. */
  readonly drive?: boolean | undefined;
  /** `any`: an `authorize` that always grants. Nothing but the store keeps tenants apart then. */
  readonly authorize?: "any" | undefined;
  /** `true`: without `authenticate`; `as` then gives the headers of the installation's token. */
  readonly local?: boolean | undefined;
}

/** One server under test. */
export interface HttpServed extends AsyncDisposable {
  /** Where the routes are mounted, without a slash at its end: `http://127.0.0.1:3000/agent`. */
  readonly url: string;
  readonly protocol: "http/1.1" | "h2";
  /** The headers that make a request one of this person's. */
  readonly as: (who: HttpWho) => Readonly<Record<string, string>>;
  /** The same person by a cookie, as a browser sends it. */
  readonly asCookie: (who: HttpWho) => Readonly<Record<string, string>>;
  /** All that the server has logged. */
  readonly logged: () => string;
  /** Drains, as on SIGTERM: resolves once every stream has ended. */
  readonly drain: (drainMs: number) => Promise<void>;
  /** Ends the open streams of a person at once. */
  readonly disconnect: (who: Pick<HttpWho, "tenant" | "user">) => void;
}

/**
 * What a case needs beyond one server over HTTP/1.1.
 * `sockets`: the target is reached by TCP without a proxy, and speaks HTTP/1.1.
 * `servers`: `open` gives further servers over the same store, with settings.
 * `outage`: `store` can be taken away.
 * `loss`: the log of live events can be emptied.
 */
export type HttpNeed = "sockets" | "servers" | "outage" | "loss";

/**
 * `away`: every call of the store rejects. `lossy`: creating works, and its answer is lost. A number: so many
 * calls work, and those after them reject, as for a process that dies in between.
 */
export type HttpStoreState = "there" | "away" | "lossy" | number;

/**
 * An implementation of the HTTP API with the agent of the suite (`createHttpModel`, and the tools that
 * `httpTools` describes). Its `authorize` grants, besides the table of roles, the actions that a session's
 * metadata lists for a user: `{ "grants": { "bob": ["read"] } }`. With `{ "authorizer": "throws" }` in the
 * metadata it throws. A change of metadata is judged by what it was before: `current`.
 */
export interface HttpTarget extends HttpServed {
  readonly gives: readonly HttpNeed[];
  /** Another server over the same store and log, as another process of the same deployment. */
  readonly open: (settings: HttpSettings) => Promise<HttpServed>;
  /** What the store does from now on, for all servers of the target. */
  readonly setStore: (state: HttpStoreState) => void;
  /** Empties the log of live events. */
  readonly loseLive: () => Promise<void>;
}

/** The tools that the target's agent has besides its model. */
export const httpTools: Readonly<Record<string, string>> = {
  refund: "takes { order: string, cents: number }; asks a person each time; returns `refunded`",
  note: "takes { text: string }; runs at once; returns the text",
  broken: "takes { message: string }; throws an error with that message",
  locate: "takes {}; is answered by a client, with { city: string }",
  packer: "takes { prompt: string }: a sub-agent with the same model and tools",
};
