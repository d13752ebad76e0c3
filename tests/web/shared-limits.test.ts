/** Two servers with one Redis of counters: limits hold for both together. */
import { defineAgent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { memorySessionStore } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { say, scriptedModel } from "@millrace/core/testing";
import { createMillrace } from "@millrace/server";
import type { Millrace, MillraceOptions } from "@millrace/server";
import { redisCounters } from "@millrace/stores/redis";
import { afterAll, expect, test } from "vitest";
import { sharedRedis } from "../../scripts/services/shared.ts";

const { url, prefix } = await sharedRedis();
const closing: AsyncDisposable[] = [];
afterAll(async () => {
  for (const each of closing.toReversed()) await each[Symbol.asyncDispose]();
});

let keys = 0;

/** Servers that share their sessions and, through Redis, their counts. Each test has a tenant of its own. */
function twoServers(
  model: Model,
  limits: MillraceOptions["limits"],
): readonly [Millrace, Millrace] {
  const stores = new Map<string, SessionStore>();
  const store = (tenant: string): SessionStore => {
    const made = stores.get(tenant) ?? memorySessionStore();
    stores.set(tenant, made);
    return made;
  };
  const tenant = crypto.randomUUID();
  const server = (): Millrace => {
    const counters = redisCounters({ url, prefix });
    const millrace = createMillrace({
      agent: defineAgent({ model }),
      authenticate: () => ({ tenant, user: "ann" }),
      store,
      counters,
      secret: "a secret of thirty-two characters",
      limits,
    });
    closing.push(counters, millrace);
    return millrace;
  };
  return [server(), server()];
}

function ask({ fetch }: Millrace, path: string, body?: unknown): Promise<Response> {
  keys += 1;
  const headers = {
    authorization: "Bearer x",
    prefer: "wait=30",
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "idempotency-key": `key-0123456789-${keys}` }),
  };
  const method = body === undefined ? "GET" : "POST";
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return fetch(new Request(`http://localhost${path}`, { method, headers, ...text }));
}

test("requests of a user are counted in both", async () => {
  const [one, two] = twoServers(scriptedModel([]), { requestsPerUser: 5 });
  const statuses: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    for (const each of [one, two]) statuses.push((await ask(each, "/v1/sessions")).status);
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
});

test("a ticket opens a stream once, whichever server it was made by", async () => {
  const [one, two] = twoServers(scriptedModel([]), {});
  await ask(one, "/v1/sessions", { id: "s" });
  const made = await ask(one, "/v1/tickets", { sessionId: "s", use: "events" });
  const { ticket } = (await made.json()) as { readonly ticket: string };
  const open = async ({ fetch }: Millrace): Promise<number> => {
    const target = `http://localhost/v1/sessions/s/events?ticket=${ticket}`;
    const answer = await fetch(new Request(target));
    await answer.body?.cancel();
    return answer.status;
  };
  expect([await open(two), await open(one)]).toEqual([200, 401]);
});

test("runs at once of a user are counted in both, and those above wait for their turn", async () => {
  let [now, most] = [0, 0];
  const model: Model = {
    id: "counting/model",
    stream: (request) => {
      most = Math.max(most, (now += 1));
      const stream = scriptedModel([[say("one two three four")]], { delayMs: 40 }).stream(request);
      void stream.result.then(() => (now -= 1));
      return stream;
    },
  };
  const [one, two] = twoServers(model, { runsPerUser: 1 });
  const ids = ["a", "b", "c", "d"];
  for (const id of ids) await ask(one, "/v1/sessions", { id });
  const outcomes = await Promise.all(
    ids.map(async (id, at) => {
      const path = `/v1/sessions/${id}/inputs`;
      const run = await ask(at % 2 === 0 ? one : two, path, { kind: "prompt", text: "go" });
      return ((await run.json()) as { readonly outcome?: string }).outcome;
    }),
  );
  expect(outcomes).toEqual(ids.map(() => "completed"));
  expect(most).toBe(1);
}, 60_000);
