import type { Dialect } from "./dialect.ts";
import { readingRoutes } from "./reading-routes.ts";
import type { Route } from "./route.ts";
import { sessionRoutes } from "./session-routes.ts";
import { anyFields } from "./shapes.ts";
import { workRoutes } from "./work-routes.ts";

/** What every route of the server itself has in common. */
const plain = {
  method: "GET",
  actions: [],
  key: "none",
  query: {},
  request: { kind: "none" },
  problems: [],
  stream: "never",
} as const;

/** The routes of the server itself. */
const serverRoutes: readonly Route[] = [
  {
    ...plain,
    name: "health",
    path: "/v1/health",
    summary: "Answers while the process lives",
    signedIn: false,
    answers: { 200: { summary: "It lives" } },
    cacheControl: "no-store",
    bucket: "none",
  },
  {
    ...plain,
    name: "ready",
    path: "/v1/ready",
    summary: "Answers whether requests should be sent here",
    signedIn: false,
    answers: { 200: { summary: "Send them" } },
    cacheControl: "no-store",
    bucket: "none",
  },
  {
    ...plain,
    name: "openapi",
    path: "/v1/openapi.json",
    summary: "This document",
    signedIn: true,
    answers: {
      200: { summary: "OpenAPI 3.1", json: anyFields, headers: ["ETag"] },
      304: { summary: "Not changed", headers: ["ETag"] },
    },
    cacheControl: "private, max-age=300",
    bucket: "requests",
  },
];

/** The server's own routes and those of the dialects, in the order in which people read them. */
export function routesWith(dialects: readonly Dialect[] = []): readonly Route[] {
  const ofDialects = dialects.flatMap(({ routes }) => routes);
  return [...sessionRoutes, ...workRoutes, ...readingRoutes, ...ofDialects, ...serverRoutes];
}
