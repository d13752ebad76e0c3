import { defineAgent } from "@millrace/agent";
import { scriptedModel } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { createMillrace } from "../serve/create-millrace.ts";
import type { Dialect, DialectRoute } from "./dialect.ts";

function row(name: string, path: string): DialectRoute {
  return {
    name,
    path,
    method: "GET",
    summary: "A line",
    actions: [],
    signedIn: true,
    key: "none",
    query: {},
    request: { kind: "none" },
    answers: { 200: { summary: "A line" } },
    problems: [],
    stream: "never",
    cacheControl: "no-store",
    bucket: "requests",
    work: async ({ params }) => ({ status: 200, json: params }),
  };
}

function serve(...dialects: readonly Dialect[]): ReturnType<typeof createMillrace> {
  const agent = defineAgent({ model: scriptedModel([]) });
  const authenticate = () => ({ tenant: "t", user: "ann" });
  return createMillrace({ agent, authenticate, driver: false, dialects });
}

test("a dialect of somebody else is served, and is in the document and the table of routes", async () => {
  await using millrace = serve({ name: "lines", routes: [row("readLine", "/lines/{line}")] });
  const answer = await millrace.fetch(new Request("http://localhost/lines/7"));
  expect([answer.status, await answer.json()]).toEqual([200, { line: "7" }]);
  expect(millrace.openapi().paths).toHaveProperty(["/lines/{line}", "get"]);
  expect(millrace.routes.map(({ name }) => name)).toContain("readLine");
});

test("headers that a dialect's clients add are allowed to pages of other origins", async () => {
  const routes = [row("readLine", "/lines")];
  await using millrace = serve({ name: "lines", routes, requestHeaders: ["X-Line"] });
  const { headers } = await millrace.fetch(
    new Request("http://localhost/lines", { method: "OPTIONS" }),
  );
  expect(headers.get("access-control-allow-headers")?.split(", ")).toContain("X-Line");
});

test("a dialect's own form of refusals has its media type, its headers and its text", async () => {
  const refusals = {
    mediaType: "text/plain",
    shape: { type: "string" as const },
    encode: ({ code }: { readonly code: string }) => `no: ${code}`,
    headers: ({ status }: { readonly status: number }) => ({ "x-refused": `${status}` }),
  };
  await using millrace = serve({
    name: "lines",
    routes: [{ ...row("readLine", "/lines"), refusals }],
  });
  const answer = await millrace.fetch(new Request("http://localhost/lines?other=1"));
  expect([answer.status, await answer.text()]).toEqual([400, "no: invalid_request"]);
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(answer.headers.get("x-refused")).toBe("400");
});

const lines = { name: "lines", routes: [row("readLine", "/lines/{line}")] };

test.each([
  ["two of one name", [lines, { ...lines, routes: [] }], '"lines" is given twice: leave one'],
  ["one path", [lines, { name: "b", routes: [row("b", "/lines/{x}")] }], "serve /lines/{x}: leave"],
  [
    "paths that match one request",
    [lines, { name: "b", routes: [row("b", "/{any}/b")] }],
    '"b" and the dialect "lines" both serve /{any}/b',
  ],
  [
    "a path of the server",
    [{ name: "b", routes: [row("b", "/v1/sessions")] }],
    '"b" and the server both serve /v1/sessions',
  ],
  [
    "one name of a route",
    [lines, { name: "b", routes: [row("readLine", "/b")] }],
    "both name a route readLine: leave",
  ],
  [
    "a route's name of the server",
    [{ name: "b", routes: [row("createTicket", "/b")] }],
    '"b" and the server both name a route createTicket',
  ],
  ["a name in the place of a dialect", ["ai-sdk" as never], "@millrace/dialects/ai-sdk"],
] as const)("dialects are refused at the start for %s", (_, dialects, message) => {
  expect(() => serve(...dialects)).toThrow(message);
});
