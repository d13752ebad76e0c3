import type { SessionAction } from "./identity.ts";
import type { Problem, ProblemCode } from "./problem.ts";
import type { ObjectShape, Shape } from "./shape.ts";

/** The name of one of the server's own routes. Its function is looked up by it. */
export type RouteName =
  | "createSession"
  | "listSessions"
  | "getSession"
  | "updateSession"
  | "removeSession"
  | "postInput"
  | "takeBackInput"
  | "abortRun"
  | "getRun"
  | "listApprovals"
  | "decideApproval"
  | "answerCall"
  | "watchSession"
  | "watchSessions"
  | "getSnapshot"
  | "listItems"
  | "uploadBlob"
  | "readBlob"
  | "forkSession"
  | "exportSession"
  | "createTicket"
  | "health"
  | "ready"
  | "openapi";

/** The bucket in which a request counts. `none` counts nowhere. */
export type Bucket = "requests" | "creations" | "inputs" | "tickets" | "aborts" | "none";

/** One route, as data. The handler, the OpenAPI document and the authorisation matrix are made of these. */
export interface Route {
  /** A `RouteName`, or the name of a dialect's route: unique on its server. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below the mount, with parameters in braces: `/v1/sessions/{id}`. */
  readonly path: string;
  /** One line for people. */
  readonly summary: string;
  /**
   * What `authorize` is asked for, for the session of the path. Empty: `signedIn` says all. Several: each.
   * `create` is asked for the session that would be made.
   */
  readonly actions: readonly SessionAction[];
  /** Whether credentials are needed. Health needs them in local mode only. */
  readonly signedIn: boolean;
  /** Whether an `Idempotency-Key` must be sent. */
  readonly key: "needed" | "optional" | "none";
  readonly query: Readonly<Record<string, Shape>>;
  readonly request: RequestBody;
  /** Successful answers by status. */
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  /** Problems beyond those that every route can answer. */
  readonly problems: readonly ProblemCode[];
  /**
   * Server-sent events: `asked` if `Accept` names them, `preferred` unless `Accept` names JSON only, or
   * `always`. `named` if the body or the query has `stream: true`, whatever `Accept` names.
   */
  readonly stream: "never" | "asked" | "preferred" | "always" | "named";
  /** The form of its refusals. Left out: `application/problem+json`. */
  readonly refusals?: RefusalFormat | undefined;
  /** Whether a session's ticket opens it, and for which use. */
  readonly ticket?: "events" | "blob" | undefined;
  readonly cacheControl: string;
  readonly bucket: Bucket;
}

/** How refusals are encoded for clients that read another form than `application/problem+json`. */
export interface RefusalFormat {
  readonly mediaType: string;
  /** For the OpenAPI document. */
  readonly shape: Shape;
  readonly encode: (problem: Problem) => string;
  /** Headers beyond the common ones, by lower-case names. */
  readonly headers?: ((problem: Problem) => Readonly<Record<string, string>>) | undefined;
}

/** What a request carries. */
export type RequestBody = { readonly kind: "none" } | JsonBody | { readonly kind: "bytes" };

/** JSON of a shape. */
export interface JsonBody {
  readonly kind: "json";
  readonly shape: ObjectShape;
  /** It carries content: it has at most `limits.bodyBytes`. Others have at most `limits.controlBytes`. */
  readonly large?: true;
  /** An empty body counts as `{}`. */
  readonly optional?: true;
  readonly mediaTypes?: readonly string[];
}

/** One successful answer. */
export interface RouteAnswer {
  readonly summary: string;
  /** JSON of this shape. */
  readonly json?: Shape;
  /** A body of these media types. */
  readonly bytes?: readonly string[];
  /** Headers beyond the common ones. */
  readonly headers?: readonly string[];
}
