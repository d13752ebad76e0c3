import { createHash } from "node:crypto";
import { assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { CallOptions, Caller } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";

const httpCase = casesOf("safety");

/** What a request does to a session. */
export type HttpAction =
  | "create"
  | "list"
  | "read"
  | "send"
  | "decide"
  | "stop"
  | "manage"
  | "none";

/** One route with a request that a caller with all rights may send. */
export interface HttpRouteRow {
  readonly method: string;
  /** The path as the table of routes has it. */
  readonly path: string;
  readonly action: HttpAction;
  /** The statuses of a caller who may. */
  readonly allowed: readonly number[];
  /** The path and body of a request for this session. */
  readonly request?: ((id: string) => CallOptions & { readonly path?: string }) | undefined;
}

const hash = `sha256-${createHash("sha256").update("matrix").digest("hex")}`;
const json = { headers: { accept: "application/json" } };
const prompt = { kind: "prompt", text: "say x" };

/** Every route of version 1, and what it asks `authorize` for. */
export const httpRoutes: readonly HttpRouteRow[] = [
  {
    method: "POST",
    path: "/v1/sessions",
    action: "create",
    allowed: [201],
    request: () => ({ key: freshKey(), body: {} }),
  },
  { method: "GET", path: "/v1/sessions", action: "list", allowed: [200] },
  { method: "GET", path: "/v1/sessions/{id}", action: "read", allowed: [200] },
  {
    method: "PATCH",
    path: "/v1/sessions/{id}",
    action: "manage",
    allowed: [200],
    request: () => ({ body: { title: "x" } }),
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/inputs",
    action: "send",
    allowed: [202],
    request: () => ({ key: freshKey(), body: prompt }),
  },
  { method: "DELETE", path: "/v1/sessions/{id}/inputs/{inputId}", action: "send", allowed: [404] },
  {
    method: "POST",
    path: "/v1/sessions/{id}/abort",
    action: "stop",
    allowed: [200, 202],
    request: () => ({ body: {} }),
  },
  { method: "GET", path: "/v1/sessions/{id}/runs/{runId}", action: "read", allowed: [404] },
  { method: "GET", path: "/v1/sessions/{id}/approvals", action: "read", allowed: [200] },
  {
    method: "POST",
    path: "/v1/sessions/{id}/approvals/{approvalId}",
    action: "decide",
    allowed: [404],
    request: () => ({ body: { decision: "allow" } }),
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/answers",
    action: "decide",
    allowed: [404, 409],
    request: () => ({ body: { callId: "c", output: 1 } }),
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/events",
    action: "read",
    allowed: [200],
    request: () => json,
  },
  { method: "GET", path: "/v1/sessions/{id}/snapshot", action: "read", allowed: [200] },
  { method: "GET", path: "/v1/sessions/{id}/items", action: "read", allowed: [200] },
  {
    method: "POST",
    path: "/v1/sessions/{id}/blobs",
    action: "send",
    allowed: [200, 201],
    request: () => ({ bytes: "matrix", headers: { "content-type": "text/plain" } }),
  },
  { method: "GET", path: "/v1/sessions/{id}/blobs/{hash}", action: "read", allowed: [200, 404] },
  {
    method: "POST",
    path: "/v1/sessions/{id}/forks",
    action: "read",
    allowed: [422],
    request: () => ({ key: freshKey(), body: { itemId: "item_none" } }),
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/export",
    action: "read",
    allowed: [200],
    request: (id) => ({ path: `/v1/sessions/${id}/export?format=jsonl` }),
  },
  {
    method: "POST",
    path: "/v1/tickets",
    action: "read",
    allowed: [201],
    request: (id) => ({ body: { sessionId: id, use: "events" } }),
  },
  { method: "GET", path: "/v1/openapi.json", action: "none", allowed: [200] },
  { method: "DELETE", path: "/v1/sessions/{id}", action: "manage", allowed: [204] },
];

/** What each role may do with a session that another user owns. `create` and `list` concern one's own. */
const roles: Readonly<Record<string, readonly HttpAction[]>> = {
  "another user": [],
  "another tenant": [],
  reader: ["read"],
  admin: ["read", "stop", "manage"],
  service: ["read", "send", "decide", "stop", "manage"],
};

/** The order of the table matters: what removes the session comes last. */
async function ask(caller: Caller, row: HttpRouteRow, id: string): Promise<number> {
  const { path = row.path, ...options } = row.request?.(id) ?? {};
  const filled = path
    .replace("{id}", id)
    .replace("{hash}", hash)
    .replace("{inputId}", "input_0123456789abcdef")
    .replace("{runId}", "run_0123456789abcdef")
    .replace("{approvalId}", "approval_x");
  return (await caller.call(row.method, filled, options)).status;
}

function expectedOf(row: HttpRouteRow, may: readonly HttpAction[]): readonly number[] {
  if (["create", "list", "none"].includes(row.action) || may.includes(row.action))
    return row.allowed;
  return may.length === 0 ? [404] : [403];
}

/** Every route asked by every role: 100 % of the table. */
export const matrixCases: readonly HttpCase[] = [
  ...Object.entries(roles).map(([role, may]) =>
    httpCase(70, `every route answers ${role} as the table says`, async (context) => {
      const ann = context.person("ann");
      const id = await ann.session({ metadata: { grants: { reader: ["read"] } } });
      await ann.call("POST", `/v1/sessions/${id}/blobs`, {
        bytes: "matrix",
        headers: { "content-type": "text/plain" },
      });
      const more = role === "admin" || role === "service" ? { roles: [role] } : {};
      const other = role === "another tenant" ? { tenant: `${context.tenant}-b` } : more;
      const caller = context.person(role.replace(" ", "-"), other);
      for (const row of httpRoutes) {
        const status = await ask(caller, row, id);
        const expected = expectedOf(row, may);
        const told = `${role}: ${row.method} ${row.path} gives ${status}, not ${expected.join(" or ")}`;
        assertEqual(expected.includes(status), true, told);
      }
    }),
  ),
  httpCase(70, "every route refuses a caller without sound credentials", async (context) => {
    const id = await context.person().session();
    const expired = context.target.as({ ...context.person().who, expiresAt: Date.now() - 1_000 });
    // Without any credentials it is cookie mode, in which a page of the own origin is asked for.
    const { origin } = new URL(context.target.url);
    const bad: readonly Readonly<Record<string, string>>[] = [
      { origin },
      { authorization: "Bearer garbage" },
      { authorization: "Basic Zm9vOmJhcg==" },
      { authorization: "" },
      expired,
    ];
    let first: string | undefined;
    for (const row of httpRoutes) {
      for (const as of bad) {
        const { path = row.path, ...options } = row.request?.(id) ?? {};
        const filled = path.replace("{id}", id).replaceAll(/[{}]/g, "");
        const answer = await context.nobody().expect(401, row.method, filled, { ...options, as });
        const { instance: _, ...body } = answer.body;
        first ??= JSON.stringify(body);
        assertEqual(JSON.stringify(body), first, "all refusals have one body");
        const challenge = answer.headers["www-authenticate"] ?? "";
        assertEqual(challenge.startsWith("Bearer"), true, `the challenge is ${challenge}`);
      }
    }
    await context.person().expect(200, "GET", `/v1/sessions/${id}`);
  }),
  httpCase(70, "the owner may do all, in the order of the table", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    for (const row of httpRoutes) {
      const status = await ask(ann, row, id);
      assertEqual(row.allowed.includes(status), true, `${row.method} ${row.path} gives ${status}`);
    }
  }),
  httpCase(
    70,
    "a verb that a path does not have is refused and the others are named",
    async ({ person }) => {
      const ann = person();
      const id = await ann.session();
      const paths = [...new Set(httpRoutes.map(({ path }) => path))];
      for (const path of paths) {
        const verbs = httpRoutes.filter((row) => row.path === path).map(({ method }) => method);
        const filled = path.replace("{id}", id).replaceAll(/[{}]/g, "");
        for (const verb of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter(
          (one) => !verbs.includes(one),
        )) {
          const { headers } = await ann.refused(405, "method_not_allowed", verb, filled);
          for (const known of verbs)
            assertEqual(
              (headers["allow"] ?? "").includes(known),
              true,
              `${path}: ${headers["allow"]}`,
            );
        }
      }
    },
  ),
];
