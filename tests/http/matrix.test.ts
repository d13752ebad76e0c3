import { expect, test } from "vitest";
import { roleTable } from "@millrace/server";
import type { Route } from "@millrace/server";
import { httpProgram, identities } from "../../packages/server/src/testing/http-program.ts";
import { allDialects as dialects } from "../dialects/kit/served.ts";

const roles = ["anonymous", ...Object.keys(identities)];
const verbs = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** A body of each route that is right in form. */
const bodies: Record<string, unknown> = {
  createSession: {},
  updateSession: { title: "x" },
  forkSession: { itemId: "nothing" },
  postInput: { kind: "prompt", text: "hello" },
  abortRun: {},
  decideApproval: { decision: "allow" },
  answerCall: { callId: "c", output: 1 },
  watchSessions: { sessions: [{ id: "plan" }] },
  createTicket: { sessionId: "plan", use: "events" },
};
bodies["agUiRun"] = {
  threadId: "mine",
  runId: "r",
  messages: [{ id: "m", role: "user", content: "x" }],
};
const sent = {
  id: "mine",
  messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "x" }] }],
};
for (const name of ["aiSdkSend", "aiSdkSendV6", "aiSdkSendV5"]) bodies[name] = sent;
bodies["openaiComplete"] = { messages: [{ role: "user", content: "x" }], stream: true };
bodies["openaiRespond"] = { input: "x", background: true };
const limits = { creationsPerUser: 1e6, inputsPerUser: 1e6, notFoundPerUser: 1e6 };
const { routes } = httpProgram({ dialects }).millrace;

/** What a role may expect of a route, by the table alone. */
function expected(route: Route, role: string): "401" | "404" | "403" | "admitted" {
  if (!route.signedIn) return "admitted";
  const who = identities[role];
  if (who === undefined || role === "expired") return "401";
  const session = { id: "plan", tenant: "acme", owner: "ann", metadata: {} };
  const allowed = (action: Route["actions"][number]): boolean =>
    roleTable({ who, action, session }) ||
    (role === "reader" && action === "read") ||
    action === "create" ||
    action === "list";
  if (route.name === "createTicket") return allowed("read") ? "admitted" : "404";
  if (!route.path.includes("{id}")) return "admitted";
  if (!allowed("read")) return "404";
  return route.actions.every(allowed) ? "admitted" : "403";
}

test("every route answers every role as the table of roles says", { timeout: 60_000 }, async () => {
  let cells = 0;
  for (const route of routes) {
    for (const role of roles) {
      const { ask, storeOf } = httpProgram({
        limits,
        dialects,
        authorize: (asked) =>
          roleTable(asked) || (asked.who.user === "rea" && asked.action === "read"),
      });
      await storeOf("acme").create({ sessionId: "plan", owner: "ann" });
      const target = route.path.replace("{id}", "plan").replace(/\{\w+\}/g, "nothing");
      const signal = AbortSignal.timeout(5_000);
      const body = bodies[route.name];
      const answer = await ask(target, role === "anonymous" ? undefined : role, {
        method: route.method,
        signal,
        headers: {
          "idempotency-key": "0123456789abcdef",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const want = expected(route, role);
      const place = `${route.method} ${target} as ${role}`;
      // The session is there and what hangs below it is not: a caller who is admitted learns that.
      const below = /\/(?:inputs|runs|approvals|blobs|responses)\/\{|answers$/.test(route.path);
      if (want === "admitted")
        expect([401, 403, ...(below ? [] : [404])], place).not.toContain(answer.status);
      else expect(String(answer.status), place).toBe(want);
      await answer.body?.cancel();
      cells += 1;
    }
  }
  expect(cells).toBe(routes.length * roles.length);
});

test("every path answers the verbs it has, and 405 with Allow to all others", async () => {
  const { ask } = httpProgram({ limits, dialects });
  for (const path of new Set(routes.map((route) => route.path))) {
    const target = path.replace(/\{\w+\}/g, "nothing");
    const here = routes.filter((route) => route.path === path);
    const known: string[] = here.map(({ method }) => method);
    if (here.some(({ method, stream }) => method === "GET" && stream === "never"))
      known.push("HEAD");
    for (const verb of verbs) {
      const answer = await ask(target, undefined, { method: verb });
      if (verb === "OPTIONS") expect(answer.status, `${verb} ${path}`).toBe(204);
      else if (known.includes(verb)) expect(answer.status, `${verb} ${path}`).not.toBe(405);
      else {
        expect(answer.status, `${verb} ${path}`).toBe(405);
        expect(answer.headers.get("allow")?.split(", ")).toEqual(expect.arrayContaining(known));
      }
    }
  }
});

test("a foreign session and a missing one answer with the same bytes but for the instance", async () => {
  const { ask, storeOf } = httpProgram();
  await storeOf("acme").create({ sessionId: "plan", owner: "ann" });
  const shown = async (target: string, as: string): Promise<string> => {
    const answer = await ask(target, as);
    expect(answer.status).toBe(404);
    return (await answer.text()).replace(/req_\w+/, "");
  };
  const missing = await shown("/v1/sessions/none", "otherUser");
  expect(await shown("/v1/sessions/plan", "otherUser")).toBe(missing);
  expect(await shown("/v1/sessions/plan", "otherTenant")).toBe(missing);
});
