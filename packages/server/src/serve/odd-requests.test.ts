/** Requests that were answered as if they were in order, or as if the server were not. */
import { defineAgent, defineTool } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { newKey, Served } from "../testing/served.ts";
import type { MillraceOptions } from "./millrace.ts";

const input = z.object({});
const pay = defineTool({
  name: "pay",
  description: "Pays",
  input,
  approve: "ask",
  run: () => "paid",
});
const locate = defineTool({
  name: "locate",
  description: "Finds a place",
  input,
  output: z.string(),
  run: "client",
});
const wait = defineTool({
  name: "wait",
  description: "Takes its time",
  input,
  run: (_, { signal }) =>
    new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("no"))),
});

/** A server whose agent calls these tools in one reply, and a session whose run is there. */
async function calling(...tools: readonly string[]): Promise<Served> {
  const model = scriptedModel([tools.map((tool) => call(tool, {})), [say("ok")]]);
  const served = new Served(defineAgent({ model, tools: [pay, locate, wait] }));
  await served.create("s", { input: { kind: "prompt", text: "go" } });
  return served;
}

/** A fact of a call. */
interface OfCall {
  readonly type: string;
  readonly tool?: string;
  readonly callId?: string;
}

async function factsOf(served: Served): Promise<readonly OfCall[]> {
  const text = await (await served.request("/v1/sessions/s/export?format=jsonl")).text();
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as OfCall); // the server's own
}

/** The id of the call of a tool, once a fact of this type is there for it. */
async function callOf(served: Served, tool: string, type: string): Promise<string> {
  const fact = await vi.waitUntil(async () =>
    (await factsOf(served)).find((each) => each.type === type && each.tool === tool),
  );
  return fact.callId ?? "";
}

function answer(served: Served, callId: string): Promise<Response> {
  return served.request("/v1/sessions/s/answers", { body: { callId, output: "x" }, key: newKey() });
}

describe("an answer", () => {
  test("is refused for a call that waits for a decision", async () => {
    await using served = await calling("pay");

    const refused = await answer(served, await callOf(served, "pay", "approval_requested"));

    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("waits for a decision");
  });

  test("is refused for a call that the server carries out", async () => {
    await using served = await calling("wait");

    const refused = await answer(served, await callOf(served, "wait", "tool_execution_started"));

    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("the agent's own process");
  });

  test("is taken for a call that waits for a client", async () => {
    await using served = await calling("locate");

    const taken = await answer(served, await callOf(served, "locate", "tool_execution_started"));

    expect(taken.status).toBe(202);
  });
});

describe("a file at an address", () => {
  const send = (served: Served, url: string): Promise<Response> =>
    served.request("/v1/sessions/s/inputs", {
      body: { kind: "prompt", parts: [{ kind: "media", mediaType: "image/png", url }] },
      key: newKey(),
    });

  test.each([
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data/",
    "data:text/html;base64,PHNjcmlwdD4=",
    "gs://bucket/picture.png",
    "/picture.png",
    "",
  ])("is refused at %j", async (url) => {
    await using served = new Served();
    await served.create("s");

    const refused = await send(served, url);

    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ pointer: "/parts/0/url" });
  });

  test("is taken by https", async () => {
    await using served = new Served();
    await served.create("s");

    expect((await send(served, "https://files.example/picture.png")).status).toBe(202);
  });

  test("is taken where the application says so", async () => {
    const acceptsUrl = ({ protocol }: URL): boolean => protocol === "gs:";
    await using served = new Served(undefined, { acceptsUrl });
    await served.create("s");

    const sent = ["gs://bucket/a.png", "https://files.example/a.png"].map((url) =>
      send(served, url),
    );

    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([202, 400]);
  });
});

test("a media type that is not ASCII is the caller's mistake", async () => {
  await using served = new Served();
  await served.create("s");

  const refused = await served.request("/v1/sessions/s/blobs", {
    method: "POST",
    headers: { "content-type": "image/png\u00e9" },
  });

  expect(refused.status).toBe(400);
});

test.each(["ht tp", "javascript", "\u00e9"])(
  "X-Forwarded-Proto: %s is the caller's mistake",
  async (proto) => {
    await using served = new Served(undefined, {
      trustProxy: true,
      authenticate: () => ({ tenant: "t1", user: "ann" }),
    });

    const refused = await served.request("/v1/sessions", {
      headers: { "x-forwarded-proto": proto },
    });

    expect(refused.status).toBe(400);
  },
);

test("names of sessions can't be tried out by making them", async () => {
  await using served = new Served(undefined, { limits: { notFoundPerUser: 5 } });
  await served.create("plan");
  const tries = Array.from({ length: 8 }, () =>
    served.request("/v1/sessions", { body: { id: "plan" }, key: newKey(), user: "bob" }),
  );

  const statuses = (await Promise.all(tries)).map(({ status }) => status);

  expect(statuses).toEqual([409, 409, 409, 409, 409, 429, 429, 429]);
});

describe("wrong credentials", () => {
  const guarded = (asked: { count: number }): Partial<MillraceOptions> => ({
    trustProxy: true,
    limits: { wrongCredentialsPerAddress: 3 },
    authenticate: (request) => {
      asked.count += 1;
      const isAnn = request.headers.get("authorization") === "Bearer ann";
      return isAnn ? { tenant: "t1", user: "ann" } : undefined;
    },
  });
  const from = (served: Served, address: string, user: string): Promise<number> =>
    served
      .request("/v1/sessions", { user, headers: { "x-forwarded-for": address } })
      .then(({ status }) => status);

  test("are refused unread once an address has sent too many, and others are served", async () => {
    const asked = { count: 0 };
    await using served = new Served(undefined, guarded(asked));
    const statuses: number[] = [];
    for (const user of ["a", "b", "c", "d", "e", "ann"])
      statuses.push(await from(served, "203.0.113.7", user));

    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    expect(asked.count).toBe(4);
    expect(await from(served, "203.0.113.8", "ann")).toBe(200);
  });

  test("are counted by the proxy's word, and not by what the caller puts before it", async () => {
    await using served = new Served(undefined, guarded({ count: 0 }));
    const statuses: number[] = [];
    for (const invented of ["1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"])
      statuses.push(await from(served, `${invented}, 203.0.113.7`, "guess"));

    expect(statuses).toEqual([401, 401, 401, 429]);
  });

  test("of one network of IPv6 are counted together", async () => {
    await using served = new Served(undefined, guarded({ count: 0 }));
    const statuses: number[] = [];
    for (const host of ["::1", "1::", "2:3:4:5", "6:7:8:9"].map((end) => `2001:db8:1:2:${end}`))
      statuses.push(await from(served, host.replace(":::", "::"), "guess"));

    expect(statuses).toEqual([401, 401, 401, 429]);
  });

  test.each([
    ["with a zone", "fe80::1%eth0", "fe80::2%eth1", 429],
    ["of IPv4 in the two forms of IPv6", "::ffff:203.0.113.7", "::ffff:cb00:7107", 429],
    ["of two machines by IPv4 in IPv6", "::ffff:cb00:7107", "::ffff:cb00:7108", 401],
  ])("are counted by an address %s", async (_, address, other, status) => {
    await using served = new Served(undefined, guarded({ count: 0 }));
    const statuses: number[] = [];
    for (const each of [address, address, address, other])
      statuses.push(await from(served, each, "guess"));

    expect(statuses).toEqual([401, 401, 401, status]);
  });

  test("are not counted for a caller that sends none", async () => {
    await using served = new Served(undefined, guarded({ count: 0 }));
    const statuses: number[] = [];
    for (let time = 0; time < 6; time += 1) {
      const request = new Request("http://localhost/v1/sessions", {
        headers: { "x-forwarded-for": "203.0.113.7" },
      });
      statuses.push((await served.millrace.fetch(request)).status);
    }

    expect(statuses).toEqual(Array(6).fill(401));
  });
});
