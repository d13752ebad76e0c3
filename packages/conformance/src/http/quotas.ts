import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { Caller, HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";
import { eventually } from "./steps.ts";

const httpCase = casesOf("limits");

const create = (caller: Caller): Promise<HttpAnswer> =>
  caller.call("POST", "/v1/sessions", { key: freshKey(), body: {} });
const get = (caller: Caller, id: string): Promise<HttpAnswer> =>
  caller.call("GET", `/v1/sessions/${id}`);

/** A limit on requests in a minute, and how to use it up once. */
interface RateRow {
  readonly name: string;
  readonly policy: string;
  readonly use: (caller: Caller, id: string) => Promise<HttpAnswer>;
  /** Statuses of a use that is served. */
  readonly served: number;
  /** What creating the session has used already. */
  readonly used?: number;
}

const rates: readonly RateRow[] = [
  { name: "requestsPerUser", policy: "requests", use: get, served: 200, used: 1 },
  { name: "requestsPerTenant", policy: "tenant", use: get, served: 200, used: 1 },
  { name: "creationsPerUser", policy: "creations", use: create, served: 201, used: 1 },
  {
    name: "inputsPerUser",
    policy: "inputs",
    use: (caller, id) =>
      caller.call("POST", `/v1/sessions/${id}/inputs`, {
        key: freshKey(),
        body: { kind: "prompt", text: "say x" },
      }),
    served: 202,
  },
  {
    name: "ticketsPerUser",
    policy: "tickets",
    use: (caller, id) =>
      caller.call("POST", "/v1/tickets", { body: { sessionId: id, use: "events" } }),
    served: 201,
  },
  {
    name: "abortsPerUser",
    policy: "aborts",
    use: (caller, id) => caller.call("POST", `/v1/sessions/${id}/abort`, { body: {} }),
    served: 200,
  },
  {
    name: "notFoundPerUser",
    policy: "not_found",
    use: (caller) => caller.call("GET", "/v1/sessions/missing"),
    served: 404,
  },
];

const shownLeft = ({ headers }: HttpAnswer, policy: string): number =>
  Number(new RegExp(`^"${policy}";r=(\\d+);t=\\d+$`).exec(headers["ratelimit"] ?? "")?.[1]);

function rateCase({ name, policy, use, served, used = 0 }: RateRow): HttpCase {
  const limit = 4;
  return httpCase(
    83,
    `${name} admits as many as it says, shows what is left, and refuses the next`,
    async ({ person, open, tenant }) => {
      const server = await open({ limits: { [name]: limit } });
      const ann = server.for(person("ann"));
      const id = await ann.session();
      const before: HttpAnswer[] = [];
      for (let at = used; at < limit; at += 1) before.push(await use(ann, id));
      const above = await use(ann, id);

      const statuses = before.map(({ status }) => status);
      assertEqual(
        new Set(statuses),
        new Set([served]),
        `below and at the limit: ${statuses.join()}`,
      );
      // A 404 is counted when it is answered: its answer shows what counted the request.
      if (policy !== "not_found")
        for (const [at, answer] of before.entries()) {
          assertEqual(shownLeft(answer, policy), limit - used - at - 1, "one less each time");
          const shown = `"${policy}";q=${limit};w=60`;
          assertEqual(answer.headers["ratelimit-policy"], shown, "the policy is shown");
        }
      assertEqual([above.status, above.body.code], [429, "rate_limited"], above.text);
      assertEqual([above.body.policy, above.body.retryable], [policy, true], "it is named");
      assertEqual(shownLeft(above, policy), 0, "nothing is left");
      const retry = Number(above.headers["retry-after"]);
      assert(retry >= 1 && retry <= 75, `Retry-After is ${retry}`);
      const elsewhere =
        policy === "tenant"
          ? server.for(person("ann", { tenant: `${tenant}-b` }))
          : server.for(person("bob"));
      assertEqual((await create(elsewhere)).status, 201, "others are served");
    },
    "servers",
  );
}

const asStream = { headers: { accept: "text/event-stream" } };
const isRunEnd = ({ type }: { readonly type?: string }): boolean => type === "run_finished";

/** Streams at once: two are admitted, the third is refused, none is evicted, and a closed one makes room. */
function streamCase(name: string, status: number, code: string, policy?: string): HttpCase {
  return httpCase(
    83,
    `${name} admits as many as it says, and evicts none`,
    async ({ person, open }) => {
      const ann = (await open({ limits: { [name]: 2 } })).for(person());
      const id = await ann.session();
      const path = `/v1/sessions/${id}/events`;
      using first = await ann.watch(id);
      await first.until(() => true, "one below the limit is served");
      using second = await ann.watch(id);
      await second.until(() => true, "the last one is served");
      const { headers, body } = await ann.refused(status, code, "GET", path, asStream);
      assertEqual(body.policy, policy, "the answer names the limit");
      assert(Number(headers["retry-after"]) > 0, "and when to come back");
      const json = { headers: { accept: "application/json" } };
      await ann.expect(200, "GET", path, json); // what is no stream is not counted
      await ann.ran(id, "say all see this");
      for (const viewer of [first, second]) await viewer.until(isRunEnd, "each goes on");
      first.close();
      using third = await eventually(async () => {
        const reader = await ann.watch(id);
        if (reader.status === 200) return reader;
        reader.close();
        return undefined;
      }, "a closed one makes room");
      await third.until(() => true, "which is served");
      await ann.refused(status, code, "GET", path, asStream);
    },
    "servers",
  );
}

/** Runs at once are counted in each process: cases for a target that drives with one. */
export const runQuotaCases: readonly HttpCase[] = (["runsPerUser", "runsPerTenant"] as const).map(
  (name) =>
    httpCase(
      83,
      `a run above ${name} waits in the queue, and none is cut`,
      async ({ person, open }) => {
        const server = await open({ limits: { [name]: 2 } });
        const ann = server.for(person("ann"));
        const last = name === "runsPerUser" ? ann : server.for(person("bob"));
        const ids = [await ann.session(), await ann.session(), await last.session()] as const;
        const runs = [await ann.post(ids[0], "slow 60 20"), await ann.post(ids[1], "slow 60 20")];
        for (const [at, { runId }] of runs.entries())
          await eventually(async () => {
            const path = `/v1/sessions/${ids[at]}/runs/${runId}`;
            const { body } = await ann.expect(200, "GET", path);
            return body.status === "running" ? body : undefined;
          }, "those within the limit run");
        const above = await last.post(ids[2], "say third");
        const { body } = await last.expect(
          200,
          "GET",
          `/v1/sessions/${ids[2]}/runs/${above.runId}`,
        );

        assertEqual(body.status, "queued", "the third is accepted, and waits");
        assertEqual((await last.finished(ids[2], above.runId)).text, "third", "then it runs");
        for (const [at, { runId }] of runs.entries())
          assertEqual(
            (await ann.finished(ids[at] ?? "", runId)).outcome,
            "completed",
            "as do both",
          );
      },
      "servers",
    ),
);

/** Each limit one below, at, and one above it. Those of bytes and waits are with what they limit. */
export const quotaCases: readonly HttpCase[] = [
  ...rates.map(rateCase),
  streamCase("streamsPerUser", 429, "quota_exceeded", "streams"),
  streamCase("viewersPerSession", 429, "quota_exceeded", "viewers"),
  streamCase("streamsPerProcess", 503, "overloaded"),
  httpCase(
    83,
    "sessionsPerUser admits as many as it says, and a removed one makes room",
    async ({ person, open }) => {
      const server = await open({ limits: { sessionsPerUser: 3 } });
      const [ann, bob] = [server.for(person("ann")), server.for(person("bob"))];
      const first = await create(ann);
      const key = freshKey();
      const again = { key, body: {} };
      assertEqual((await create(ann)).status, 201, "one below the limit");
      await ann.expect(201, "POST", "/v1/sessions", again);
      const { headers, body } = await ann.refused(429, "quota_exceeded", "POST", "/v1/sessions", {
        key: freshKey(),
        body: {},
      });
      assertEqual(body.policy, "sessionsPerUser", "the answer names the limit");
      assertEqual(headers["retry-after"], undefined, "waiting alone does not help");
      const repeat = await ann.expect(201, "POST", "/v1/sessions", again);
      assertEqual(repeat.headers["idempotency-replayed"], "true", "a repeat adds none");
      const { body: list } = await ann.expect(200, "GET", "/v1/sessions");
      assertEqual(list.sessions?.length, 3, "none was evicted");
      assertEqual((await create(bob)).status, 201, "another user has their own");
      await ann.expect(204, "DELETE", `/v1/sessions/${first.body.id}`);
      assertEqual((await create(ann)).status, 201, "a removed one makes room");
    },
    "servers",
  ),
  httpCase(
    83,
    "sessionsPerStream is the most that one stream shows",
    async ({ person, open }) => {
      const ann = (await open({ limits: { sessionsPerStream: 3 } })).for(person());
      const ids = [await ann.session(), await ann.session(), await ann.session()];
      const bodyOf = (some: readonly string[]): object => ({
        sessions: some.map((id) => ({ id })),
      });
      for (const count of [2, 3]) {
        const body = bodyOf(ids.slice(0, count));
        using reader = await ann.open("/v1/events", { method: "POST", body });
        assertEqual(reader.status, 200, `${count} are served`);
      }
      const body = bodyOf([...ids, await ann.session()]);
      const above = { body, headers: { accept: "text/event-stream" } };
      const { body: refused } = await ann.refused(
        429,
        "quota_exceeded",
        "POST",
        "/v1/events",
        above,
      );
      assertEqual(refused.policy, "sessionsPerStream", "the answer names the limit");
    },
    "servers",
  ),
];
