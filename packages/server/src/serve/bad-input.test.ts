import { expect, test } from "vitest";
import type { Identity } from "../http/identity.ts";
import { httpProgram, identities } from "../testing/http-program.ts";

const json = { "content-type": "application/json", "idempotency-key": "0123456789abcdef" };

async function refused(
  target: string,
  init: RequestInit & { readonly as?: string },
): Promise<readonly [number, string]> {
  const { ask, storeOf } = httpProgram({ limits: { bodyBytes: 10_000 } });
  await storeOf("acme").create({ sessionId: "plan", owner: "ann" });
  const answer = await ask(target, init.as ?? "owner", init);
  const { code = "" } = (await answer.json().catch(() => ({}))) as { code?: string };
  return [answer.status, code];
}

const post = (body: string, headers: Record<string, string> = json): RequestInit => ({
  method: "POST",
  body,
  headers,
});

test.each([
  ["depth", `{"metadata":${"[".repeat(100)}${"]".repeat(100)}}`],
  ["a duplicate key", `{"title":"a","title":"b"}`],
  ["__proto__", `{"metadata":{"__proto__":{}}}`],
  ["text that is no JSON", `{`],
  ["an unknown field", `{"titel":"a"}`],
  ["a list", `[]`],
])("a body with %s is refused with 400", async (_, body) => {
  expect(await refused("/v1/sessions", post(body))).toEqual([400, "invalid_request"]);
});

test.each([
  ["text/plain", { ...json, "content-type": "text/plain" }],
  ["a form", { ...json, "content-type": "application/x-www-form-urlencoded" }],
  ["gzip", { ...json, "content-encoding": "gzip" }],
])("a body as %s is refused with 415", async (_, headers) => {
  expect(await refused("/v1/sessions", post("{}", headers))).toEqual([
    415,
    "unsupported_media_type",
  ]);
});

test("a body above the limit is refused with 413", async () => {
  const body = JSON.stringify({ title: "x".repeat(10_000) });
  expect(await refused("/v1/sessions", post(body))).toEqual([413, "too_large"]);
});

test.each([
  "/v1//sessions",
  "/v1/sessions;x",
  "/v1/sessions/a%2fb",
  "/v1/sessions/a%5cb",
  "/v1/sessions/%00",
  "/v1/sessions/%ff",
])("the path %s is refused with 400", async (target) => {
  expect(await refused(target, {})).toEqual([400, "invalid_request"]);
});

test.each([
  "limit=NaN",
  "limit=-1",
  "limit=1e9",
  "limit=0",
  "limit=201",
  "limit=1&limit=2",
  "limit[]=1",
  "nope=1",
  "status=%ff",
])("the query %s is refused with 400", async (query) => {
  expect(await refused(`/v1/sessions?${query}`, {})).toEqual([400, "invalid_request"]);
});

test.each(["token", "access_token", "api_key", "auth", "jwt"])(
  "a URL with %s is refused",
  async (name) => {
    expect(await refused(`/v1/sessions?${name}=x`, {})).toEqual([400, "token_in_url"]);
  },
);

test.each([
  ["that is missing", undefined],
  ["that is short", "short"],
  ["of 10 KB", "x".repeat(10_000)],
  ["with _", "0123456789abcdef_1"],
])("a key %s is refused with 400", async (_, key) => {
  const headers = {
    "content-type": "application/json",
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  expect(await refused("/v1/sessions", post("{}", headers))).toEqual([400, "invalid_key"]);
});

test.each(["http://evil.example", "null"])("the origin %s is refused", async (origin) => {
  expect(await refused("/v1/sessions", { headers: { origin } })).toEqual([403, "origin_refused"]);
});

test("with a cookie an unsafe verb needs an origin, and no other site is let in", async () => {
  const { millrace } = httpProgram();
  const ask = async (init: RequestInit): Promise<number> =>
    (await millrace.fetch(new Request("http://app.example/v1/sessions", init))).status;
  const cookie = { ...json, cookie: "who=ann" };
  expect(await ask({ method: "POST", headers: cookie, body: "{}" })).toBe(403);
  expect(await ask({ method: "POST", headers: json, body: "{}" })).toBe(401);
  expect(await ask({ headers: { "sec-fetch-site": "cross-site" } })).toBe(403);
  expect(await ask({})).toBe(401);
});

test("a caller known by its certificate needs neither token nor origin, and no page can act for it (H06)", async () => {
  const authenticate = (request: Request): Identity | undefined =>
    request.headers.get("x-client-verified") === "ann" ? identities["owner"] : undefined;
  const { millrace } = httpProgram({ authenticate });
  const ask = async (more: Record<string, string>): Promise<number> => {
    const headers = { ...json, "x-client-verified": "ann", ...more };
    const init = { method: "POST", headers, body: "{}" };
    return (await millrace.fetch(new Request("http://app.example/v1/sessions", init))).status;
  };
  expect(await ask({})).toBe(201);
  expect(await ask({ "x-client-verified": "eve" })).toBe(401);
  // A browser adds one of these to what a page of another site sends.
  expect(await ask({ origin: "http://evil.example" })).toBe(403);
  expect(await ask({ "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await ask({ cookie: "who=ann" })).toBe(403);
  expect(await ask({ "content-type": "text/plain", origin: "http://app.example" })).toBe(415);
});

test("the 51st stream of a user is refused, and the 50 before stay open (H18)", async () => {
  const { ask, storeOf } = httpProgram();
  for (const id of ["a", "b", "c"]) {
    await storeOf("acme").create({ sessionId: id, owner: "ann" });
  }
  const accept = { headers: { accept: "text/event-stream" } };
  const open: Response[] = [];
  for (let n = 0; n < 50; n += 1) {
    const id = ["a", "b", "c"][n % 3] ?? "a";
    open.push(await ask(`/v1/sessions/${id}/events`, "owner", accept));
  }
  expect(new Set(open.map(({ status }) => status))).toEqual(new Set([200]));
  const refusals = [];
  for (let n = 0; n < 8; n += 1) {
    const late = await ask("/v1/sessions/a/events", "owner", accept);
    expect([late.status, ((await late.json()) as { policy: string }).policy]).toEqual([
      429,
      "streams",
    ]);
    refusals.push(late.headers.get("retry-after"));
  }
  for (const wait of refusals) expect(Number(wait)).toBeGreaterThan(0);
  const readers = open.map(({ body }) => body?.getReader());
  for (const reader of readers) expect((await reader?.read())?.done).toBe(false);
  await readers[0]?.cancel();
  const next = await ask("/v1/sessions/a/events", "owner", accept);
  expect(next.status).toBe(200);
  await Promise.all([...readers.map((reader) => reader?.cancel()), next.body?.cancel()]);
});

test("a host that is not listed is refused with 421", async () => {
  const { millrace } = httpProgram({ hosts: ["app.example"] });
  const answer = await millrace.fetch(new Request("http://attacker.example/v1/health"));
  expect(answer.status).toBe(421);
});

test("without and with bad credentials there is one answer", async () => {
  const { ask } = httpProgram();
  const bodies = new Set<string>();
  for (const as of [undefined, "nobody", "expired"]) {
    const answer = await ask("/v1/sessions/plan", as);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    bodies.add((await answer.text()).replace(/req_\w+/, ""));
  }
  expect(bodies.size).toBe(1);
});

test("above the limit a request is refused with a time to wait, and Stop still works", async () => {
  const { ask, storeOf } = httpProgram({ limits: { requestsPerUser: 2 } });
  await storeOf("acme").create({ sessionId: "plan", owner: "ann" });
  const statuses: number[] = [];
  for (let n = 0; n < 3; n += 1) statuses.push((await ask("/v1/sessions/plan", "owner")).status);
  expect(statuses).toEqual([200, 200, 429]);
  const late = await ask("/v1/sessions/plan", "owner");
  expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(late.headers.get("ratelimit")).toMatch(/^"requests";r=0;t=\d+$/);
  const stop = await ask("/v1/sessions/plan/abort", "owner", { method: "POST" });
  expect(stop.status).toBe(200);
});

test("an authenticate that throws is 503, not yes", async () => {
  const { ask } = httpProgram({
    authenticate: () => {
      throw new Error("no directory");
    },
  });
  expect((await ask("/v1/sessions", "owner")).status).toBe(503);
});

test("a ticket opens its session's events once, and nothing else", async () => {
  const { ask, storeOf } = httpProgram();
  await storeOf("acme").create({ sessionId: "plan", owner: "ann" });
  await storeOf("acme").create({ sessionId: "other", owner: "ann" });
  const body = JSON.stringify({ sessionId: "plan", use: "events" });
  const made = await ask("/v1/tickets", "owner", { method: "POST", headers: json, body });
  const { ticket } = (await made.json()) as { ticket: string };
  const use = async (id: string, given = ticket): Promise<number> => {
    const answer = await ask(`/v1/sessions/${id}/events?ticket=${given}`);
    await answer.body?.cancel();
    return answer.status;
  };
  expect(await use("other")).toBe(401);
  const [text = "", signature = ""] = ticket.split(".");
  const forged = `${text}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
  expect(await use("plan", forged)).toBe(401);
  expect(await use("plan")).toBe(200);
  expect(await use("plan")).toBe(401);
});
