import { describe, expect, it } from "vitest";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { memoryCounters } from "@millrace/core/memory";
import { z } from "zod";
import type { MillraceOptions } from "../serve/millrace.ts";
import { newKey, Served } from "../testing/served.ts";
import type { SentRequest } from "../testing/served.ts";

const dollar = 1_000_000;
const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 };

/** Each reply costs a dollar. "work" begins a run of many replies, all else is answered by one. */
function pricedAgent(replies: string[] = []): Agent {
  const again = defineTool({
    name: "again",
    input: z.object({ n: z.number() }),
    effect: "pure",
    run: () => "ok",
  });
  return defineAgent({
    model: {
      id: "priced/model",
      stream: (request) => {
        replies.push(request.transcript.length.toString());
        const asked = JSON.stringify(request.transcript.at(-1));
        const works = asked.includes("work") || asked.includes("tool_result");
        const reply = works ? call("again", { n: replies.length }) : say("done");
        return scriptedModel([[reply, { usage }]]).stream(request);
      },
    },
    tools: [again],
    price: () => 1,
  });
}

interface Shown {
  readonly status: string;
  readonly outcome: string;
  readonly limit: string;
  readonly code: string;
  readonly policy: string;
}

async function bodyOf(response: Response): Promise<Shown> {
  return (await response.json()) as Shown; // each test reads what its answer has
}

const wait = { prefer: "wait=20" };

function prompt(text: string, more: SentRequest = {}): SentRequest {
  return { body: { kind: "prompt", text }, key: newKey(), headers: wait, ...more };
}

async function served(options: Partial<MillraceOptions>): Promise<Served> {
  const made = new Served(pricedAgent(), options);
  await made.create("s");
  return made;
}

const refused = { code: "quota_exceeded", policy: "spendPerUser" };

describe("what a user may spend in a day", () => {
  it("ends a run that reaches it as limited, and refuses what follows with a time to wait", async () => {
    await using server = await served({ limits: { spendPerUser: 3 * dollar } });
    const run = await server.request("/v1/sessions/s/inputs", prompt("work"));
    expect(await bodyOf(run)).toMatchObject({ outcome: "limited", limit: "spendPerUser" });

    const late = await server.request("/v1/sessions/s/inputs", prompt("more"));
    expect(late.status).toBe(429);
    expect(await bodyOf(late)).toMatchObject(refused);
    expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(3_600);
  });

  it("is the owner's in all sessions, and others have their own", async () => {
    await using server = await served({ limits: { spendPerUser: 2 * dollar } });
    await server.request("/v1/sessions/s/inputs", prompt("work"));
    const input = { kind: "prompt", text: "x" };
    const begins = { body: { id: "t", input }, key: newKey() };
    expect(await bodyOf(await server.request("/v1/sessions", begins))).toMatchObject(refused);
    const empty = { body: { id: "t" }, key: newKey() };
    expect((await server.request("/v1/sessions", empty)).status).toBe(201);
    const bob = { body: { id: "b", input }, key: newKey(), user: "bob" };
    expect((await server.request("/v1/sessions", bob)).status).toBe(201);
  });

  it("answers the repeat of an input and of a session that were accepted before", async () => {
    await using server = await served({ limits: { spendPerUser: 2 * dollar } });
    const key = newKey();
    const begins = { body: { id: "t", input: { kind: "prompt", text: "x" } }, key };
    await server.request("/v1/sessions", begins);
    await server.request(`/v1/sessions/t/runs/run_${key}`, { headers: wait });
    const sent = prompt("y");
    await server.request("/v1/sessions/s/inputs", sent);

    expect((await server.request("/v1/sessions/s/inputs", prompt("z"))).status).toBe(429);
    const replays = [
      await server.request("/v1/sessions", begins),
      await server.request("/v1/sessions/s/inputs", sent),
    ];
    expect(replays.map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([
      "true",
      "true",
    ]);
    expect(replays.map(({ status }) => status)).toEqual([201, 200]);
  });

  it("lets a run end that costs nothing more, and begins anew with the next day", async () => {
    let now = 0;
    const counters = memoryCounters({ monotonic: () => now });
    await using server = await served({ counters, limits: { spendPerUser: 1 * dollar } });
    const first = await server.request("/v1/sessions/s/inputs", prompt("short"));
    expect(await bodyOf(first)).toMatchObject({ outcome: "completed" });
    const sent = prompt("again");
    expect((await server.request("/v1/sessions/s/inputs", sent)).status).toBe(429);
    now = 86_400_000;
    // The refused request has not used up its key.
    const next = await server.request("/v1/sessions/s/inputs", sent);
    expect(await bodyOf(next)).toMatchObject({ outcome: "completed" });
  });
});

describe("what a tenant may spend in a day", () => {
  it("is spent by all its users together, and by no other tenant", async () => {
    const authenticate: MillraceOptions["authenticate"] = (request) => {
      const [, user = ""] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
      return { tenant: user === "eve" ? "t2" : "t1", user };
    };
    await using server = await served({ authenticate, limits: { spendPerTenant: 1 * dollar } });
    await server.request("/v1/sessions/s/inputs", prompt("short"));
    const input = { kind: "prompt", text: "x" };
    const begin = (user: string): Promise<Response> =>
      server.request("/v1/sessions", { body: { id: user, input }, key: newKey(), user });
    const policy = "spendPerTenant";
    expect(await bodyOf(await begin("bob"))).toMatchObject({ code: "quota_exceeded", policy });
    expect((await begin("eve")).status).toBe(201);
  });
});

it("counters that are away refuse nothing", async () => {
  const away = (): never => {
    throw new Error("no counters");
  };
  const counters = { take: away, hold: away, release: away };
  await using server = await served({ counters, limits: { spendPerUser: 1, runsPerUser: 1 } });
  const run = await server.request("/v1/sessions/s/inputs", prompt("short"));
  expect(await bodyOf(run)).toMatchObject({ outcome: "completed" });
});
