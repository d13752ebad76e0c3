import { defineAgent, defineTool } from "@millrace/agent";
import { memoryBlobs, memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, fail, manualClock, say, scriptedModel } from "@millrace/core/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Random } from "../../../../tests/kit/random.ts";
import { machineUse } from "../../../../tests/kit/machine.ts";
import { after, pass, passUntil, settled } from "../testing/by-clock.ts";
import { newKey, Served } from "../testing/served.ts";
import type { SentRequest } from "../testing/served.ts";
import type { MillraceOptions } from "./millrace.ts";

/** Numbers in [0, 1) that are the same for the same seed. */
function numbers(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next();
}

/** A server that drives, whose time passes by hand. */
function onClock(options: Partial<MillraceOptions> = {}) {
  const clock = manualClock(1_700_000_000_000);
  const slow = defineTool({
    name: "slow",
    description: "Takes three seconds",
    input: z.object({}),
    run: async () => {
      await clock.sleep(3_000);
      return "done";
    },
  });
  const script = [
    [fail("overloaded", "too busy", { retryable: true })],
    [call("slow", {})],
    [say("It is done")],
  ];
  const model = scriptedModel(script, { clock, delayMs: 20 });
  const agent = defineAgent({ model, tools: [slow] });
  const log = memoryEventLog({ clock });
  let isEnded = false;
  const announce: typeof log.announce = async (uid, fact) => {
    isEnded ||= fact.type === "run_finished";
    await log.announce(uid, fact);
  };
  const own = { clock, random: numbers(7), log: { ...log, announce } };
  return { clock, served: new Served(agent, { ...own, ...options }), ended: () => isEnded };
}

const prompt = { kind: "prompt", text: "go" };

describe("a server with a clock of its own", () => {
  test("drives a run with retries and tools by it, and asks the machine for no time and no chance", async () => {
    const used = await machineUse(async () => {
      const { clock, served, ended } = onClock();
      const soon = <T>(asked: Promise<T>): Promise<T> => settled(clock, asked);
      const session = { body: { id: "s" }, key: newKey() };
      expect((await soon(served.request("/v1/sessions", session))).status).toBe(201);
      const headers = { accept: "text/event-stream" };
      const stream = await soon(served.request("/v1/sessions/s/events", { headers }));
      expect(stream.status).toBe(200);
      await soon(served.request("/v1/sessions/s/inputs", { body: prompt, key: newKey() }));
      await passUntil(clock, ended);

      const items = await soon(served.request("/v1/sessions/s/items"));
      expect(await items.text()).toContain("It is done");
      expect((await soon(served.request("/v1/sessions/none"))).status).toBe(404);
      let isClosed = false;
      void served.millrace.close({ drainMs: 1_000 }).then(() => (isClosed = true));
      await passUntil(clock, () => isClosed);
    });

    expect(used).toEqual([]);
  });

  const hanging = new Promise<never>(() => undefined);
  const endless: SentRequest = { key: newKey(), body: {} };
  test.each<
    [string, number, Partial<MillraceOptions>, (served: Served) => Promise<Response>, number]
  >([
    [
      "an authentication that does not answer",
      5_000,
      { authenticate: () => hanging },
      (served) => served.request("/v1/sessions"),
      503,
    ],
    [
      "an authoriser that does not answer",
      5_000,
      { authorize: () => hanging },
      (served) => served.request("/v1/sessions", { ...endless, body: { id: "other" } }),
      503,
    ],
    [
      "a body that does not end",
      10_000,
      { limits: { bodyMs: 10_000 } },
      (served) => served.millrace.fetch(endlessRequest()),
      408,
    ],
    [
      "a store that does not answer",
      2_000,
      { store: () => ({ ...memorySessionStore(), find: () => hanging }) },
      (served) => served.request("/v1/ready"),
      503,
    ],
  ])("gives %s the time that it has", async (_, ms, options, ask, status) => {
    const { clock, served } = onClock(options);
    void served.request("/v1/sessions/s"); // opens the store
    await pass(clock, 50);

    const asked = ask(served);

    expect(await after(clock, ms - 100, asked)).toBeUndefined();
    expect((await settled(clock, asked)).status).toBe(status);
  });

  test("answers a wait for a run when its time is over", async () => {
    const { clock, served } = onClock();
    await settled(clock, served.request("/v1/sessions", { body: { id: "s" }, key: newKey() }));
    const key = newKey();
    const waits = served.request("/v1/sessions/s/inputs", {
      body: prompt,
      key,
      headers: { prefer: "wait=2" },
    });

    expect(await after(clock, 1_800, waits)).toBeUndefined();
    expect((await settled(clock, waits)).status).toBe(202);
  });

  test("gives a reader up that takes nothing for as long as it may", async () => {
    const { clock, served } = onClock({ streams: { stallMs: 5_000 } });
    const text = "x".repeat(200_000);
    await settled(clock, served.request("/v1/sessions", { body: { id: "s" }, key: newKey() }));
    const body = { kind: "prompt", text };
    await settled(clock, served.request("/v1/sessions/s/inputs", { body, key: newKey() }));
    const headers = { accept: "text/event-stream" };
    const answer = await settled(clock, served.request("/v1/sessions/s/events", { headers }));
    const reader = answer.body?.getReader();

    await pass(clock, 6_000);
    const read = async (): Promise<void> => {
      while ((await reader?.read())?.done === false);
    };

    await expect(read()).rejects.toThrow("the reader took nothing for 5000 ms");
  });
});

describe("a server with a source of chance of its own", () => {
  /** All that chance decides in a session: its ids, and the names in its answers. */
  async function facts(seed: number): Promise<readonly string[]> {
    const clock = manualClock(1_700_000_000_000);
    const ids: string[] = [];
    const log = memoryEventLog({ clock });
    const announce: typeof log.announce = async (uid, fact) => {
      const { time: _, ...rest } = fact;
      ids.push(JSON.stringify([uid, rest]));
      await log.announce(uid, fact);
    };
    const model = scriptedModel([[say("hello")]], { clock, delayMs: 20 });
    const options = { clock, random: numbers(seed), blobs: memoryBlobs({ clock }) };
    const served = new Served(defineAgent({ model }), { ...options, log: { ...log, announce } });
    const make = { body: { id: "s" }, key: "key-0123456789-a" };
    const made = await settled(clock, served.request("/v1/sessions", make));
    ids.push(made.headers.get("request-id") ?? "none");
    const post = { body: prompt, key: "key-0123456789-b" };
    await settled(clock, served.request("/v1/sessions/s/inputs", post));
    await passUntil(clock, () => ids.at(-1)?.includes("run_finished") === true);
    return ids;
  }

  test("makes the same ids of the same numbers, and others of others", async () => {
    const first = await facts(1);

    expect(first.length).toBeGreaterThan(5);
    expect(await facts(1)).toEqual(first);
    expect(await facts(2)).not.toEqual(first);
  });
});

/** A request whose body begins and does not end. */
function endlessRequest(): Request {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
  });
  const headers = {
    authorization: "Bearer ann",
    "content-type": "application/json",
    "idempotency-key": newKey(),
  };
  const options = { method: "POST", headers, body, duplex: "half" };
  return new Request("http://localhost/v1/sessions", options);
}
