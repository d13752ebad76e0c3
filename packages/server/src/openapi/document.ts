import { problemKinds } from "../http/problem.ts";
import type { ProblemCode } from "../http/problem.ts";
import type { Route, RouteAnswer } from "../http/route.ts";
import type { Shape } from "../http/shape.ts";
import { components, keyPattern } from "../http/shapes.ts";

/** A part of the document: an object of JSON. */
export interface OpenApiNode {
  readonly [name: string]: unknown;
}

/** The routes as OpenAPI 3.1 describes them. */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, OpenApiNode>>;
  readonly components: OpenApiNode;
  readonly security: readonly OpenApiNode[];
}

/** Problems that every route can answer. */
const common: readonly ProblemCode[] = [
  "invalid_request",
  "token_in_url",
  "unauthenticated",
  "forbidden",
  "origin_refused",
  "not_found",
  "method_not_allowed",
  "not_acceptable",
  "request_timeout",
  "too_large",
  "unsupported_media_type",
  "wrong_host",
  "rate_limited",
  "headers_too_large",
  "internal",
  "store_unavailable",
  "overloaded",
];

/** The OpenAPI document, made of a table of routes. */
export function openapiDocument(routes: readonly Route[]): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const place = (paths[route.path] ??= {});
    place[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Millrace", version: "1" },
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        cookie: { type: "apiKey", in: "cookie", name: "session" },
        ticket: { type: "apiKey", in: "query", name: "ticket" },
      },
    },
    security: [{ bearer: [] }, { cookie: [] }],
  };
}

function operation(route: Route): OpenApiNode {
  return {
    operationId: route.name,
    summary: route.summary,
    "x-actions": route.actions,
    "x-limit": route.bucket,
    ...(route.signedIn ? {} : { security: [{}] }),
    ...(route.ticket === undefined
      ? {}
      : { security: [{ bearer: [] }, { cookie: [] }, { ticket: [] }] }),
    parameters: parametersOf(route),
    ...requestOf(route),
    responses: { ...answersOf(route), ...problemsOf(route) },
  };
}

function parametersOf(route: Route): readonly OpenApiNode[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const inPath = names.map((name) => parameter(name, "path", { type: "string" }, true));
  const inQuery = Object.entries(route.query).map(([name, shape]) =>
    parameter(name, "query", shape),
  );
  const key = { type: "string", pattern: keyPattern } as const;
  const inHeader =
    route.key === "none"
      ? []
      : [parameter("Idempotency-Key", "header", key, route.key === "needed")];
  return [...inPath, ...inQuery, ...inHeader];
}

function parameter(name: string, place: string, schema: Shape, required = false): OpenApiNode {
  return { name, in: place, required, schema };
}

function requestOf({ request }: Route): OpenApiNode {
  switch (request.kind) {
    case "none":
      return {};
    case "bytes":
      return { requestBody: { required: true, content: { "*/*": {} } } };
    case "json": {
      const { shape, optional, mediaTypes = ["application/json"] } = request;
      const content = Object.fromEntries(mediaTypes.map((type) => [type, { schema: shape }]));
      return { requestBody: { required: optional !== true, content } };
    }
    default:
      return request satisfies never;
  }
}

function answersOf(route: Route): OpenApiNode {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, answer]) => [status, answerOf(route, answer)]),
  );
}

function answerOf(
  { stream }: Route,
  { summary, json, bytes = [], headers = [] }: RouteAnswer,
): OpenApiNode {
  const types: Record<string, OpenApiNode> = {};
  if (json !== undefined) types["application/json"] = { schema: json };
  for (const type of bytes) types[type] = {};
  if (json !== undefined && stream === "asked") types["text/event-stream"] = {};
  const text = { schema: { type: "string" } };
  return {
    description: summary,
    ...(headers.length === 0
      ? {}
      : { headers: Object.fromEntries(headers.map((name) => [name, text])) }),
    ...(Object.keys(types).length === 0 ? {} : { content: types }),
  };
}

/** Problems by status; the codes of one status stand together. */
function problemsOf(route: Route): OpenApiNode {
  const codes = new Set<ProblemCode>([...common, ...route.problems]);
  if (route.key !== "none") codes.add("invalid_key");
  const byStatus: Record<string, ProblemCode[]> = {};
  for (const code of codes) (byStatus[problemKinds[code].status] ??= []).push(code);
  const content = refusalOf(route);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, list]) => [
      status,
      { description: list.join(", "), content },
    ]),
  );
}

/** How a route refuses. */
function refusalOf({ refusals }: Route): OpenApiNode {
  if (refusals !== undefined) return { [refusals.mediaType]: { schema: refusals.shape } };
  return { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };
}
