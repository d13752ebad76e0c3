import type { SessionAction } from "./identity.ts";
import type { ProblemCode } from "./problem.ts";
import type { ObjectShape, Shape } from "./shape.ts";

/** The name of a route. Its function is looked up by it. */
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
  | `agUi${"Run" | "Messages"}`
  | `aiSdk${"Send" | "Messages" | "Resume"}${"" | "V6" | "V5"}`
  | `openai${"Respond" | "GetResponse" | "CancelResponse" | "InputItems" | "Complete" | "Models"}`
  | "health"
  | "ready"
  | "openapi";

/** Formats of other libraries that a server offers beside its own. */
export const dialectNames = ["ai-sdk", "ag-ui", "openai"] as const;
export type DialectName = (typeof dialectNames)[number];

/** The bucket in which a request counts. `none` counts nowhere. */
export type Bucket = "requests" | "creations" | "inputs" | "tickets" | "aborts" | "none";

/** One route, as data. The handler, the OpenAPI document and the authorisation matrix are made of these. */
export interface Route {
  readonly name: RouteName;
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
  /** The dialect that it belongs to. Left out: it is our own, and always served. */
  readonly dialect?: DialectName | undefined;
  /**
   * `text`: a refusal is its sentence alone, which is what clients of the dialect show. `openai`: it is an
   * `error` as those clients read it. Left out: a problem.
   */
  readonly refusals?: "text" | "openai" | undefined;
  /** Whether a session's ticket opens it, and for which use. */
  readonly ticket?: "events" | "blob" | undefined;
  readonly cacheControl: string;
  readonly bucket: Bucket;
}

/** What a request carries. */
export type RequestBody =
  | { readonly kind: "none" }
  /** JSON of a shape. `optional`: an empty body counts as `{}`. */
  | {
      readonly kind: "json";
      readonly shape: ObjectShape;
      readonly optional?: true;
      readonly mediaTypes?: readonly string[];
    }
  | { readonly kind: "bytes" };

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
