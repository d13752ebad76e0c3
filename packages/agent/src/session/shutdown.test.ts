import { follow } from "@millrace/core/reading";
import type { Fact } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { call, say, scriptedModel, stall } from "@millrace/core/testing";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import type { Session } from "./session.ts";

/** Generous for a busy machine. A passing test takes a fraction of it. */
const patience = { timeout: 60_000 };
const soon = { timeout: 5_000 };

async function factsOf(store: SessionStore, { id }: Session): Promise<readonly Fact[]> {
  const { uid } = (await store.find(id)) ?? {};
  return uid === undefined ? [] : await store.read(uid);
}

function typesOf(facts: readonly Fact[], ...types: readonly Fact["type"][]): readonly string[] {
  return facts.flatMap(({ type }) => (types.includes(type) ? [type] : []));
}

const look = defineTool({
  name: "look",
  input: z.object({}),
  effect: "pure",
  run: (_, { signal }) =>
    new Promise<string>((resolve) => {
      signal.addEventListener("abort", () => resolve("cut"), { once: true });
    }),
});

it(
  "a driver that closes in the middle of a run stores that it did, and the next one that it goes on",
  patience,
  async () => {
    const store = memorySessionStore();
    const model = scriptedModel([[say("Hel"), stall()], [say("Hello.")]]);
    const agent = defineAgent({ model });
    const first = await agent.open({ id: "s", store });
    const run = first.send("hi");
    await run.until("content_delta");
    await first.close();

    const left = await factsOf(store, first);
    expect(left.at(-1)).toMatchObject({
      type: "session_released",
      incarnation: 1,
      runId: run.id,
      reason: "shutdown",
    });

    const narrated: string[] = [];
    const watcher = await agent.open({ id: "s", store, drive: false });
    expect(watcher).toMatchObject({ released: true, status: "running" });
    const second = await agent.open({ id: "s", store });
    const resumed = second.run;
    await vi.waitFor(() => expect(second.status).toBe("idle"), soon);
    for await (const { type } of resumed?.narrate() ?? []) narrated.push(type);
    const facts = await factsOf(store, second);
    expect(facts[left.length]).toMatchObject({
      type: "session_claimed",
      incarnation: 2,
      resumes: run.id,
    });
    expect(narrated.filter((type) => type === "run_released" || type === "run_resumed")).toEqual([
      "run_released",
      "run_resumed",
    ]);
    expect(second).toMatchObject({ released: false, lastRun: { outcome: "completed" } });
    await watcher.close();
    await second.close();
    expect(typesOf(await factsOf(store, second), "session_released")).toHaveLength(1);
  },
);

it("a shutdown inside a tool closes no lane and settles nothing", patience, async () => {
  const store = memorySessionStore();
  const agent = defineAgent({ model: scriptedModel([[call("look", {})]]), tools: [look] });
  const session = await agent.open({ id: "s", store });
  await session.send("hi").until("tool_execution_started");
  await session.close();

  const facts = await factsOf(store, session);
  expect(facts.slice(-2).map(({ type }) => type)).toEqual([
    "tool_execution_started",
    "session_released",
  ]);
  const { uid } = (await store.find(session.id)) ?? {};
  expect(uid === undefined ? [] : await store.floors(uid)).not.toHaveLength(0);
});

it(
  "a driver that closes while no run is on, or that never claimed, stores nothing",
  patience,
  async () => {
    const store = memorySessionStore();
    const agent = defineAgent({ model: scriptedModel([[say("Hello.")], [stall()]]) });
    const session = await agent.open({ id: "s", store });
    await session.send("hi").result;
    const before = (await factsOf(store, session)).length;
    await session.close();
    const watcher = await agent.open({ id: "s", store, drive: false });
    await watcher.close();

    expect(await factsOf(store, session)).toHaveLength(before);
  },
);

it(
  "a driver whose claim is granted while it closes stores that it leaves the run",
  patience,
  async () => {
    const store = memorySessionStore();
    const agent = defineAgent({ model: scriptedModel([[say("Hel"), stall()]]) });
    const first = await agent.open({ id: "s", store });
    await first.send("hi").until("content_delta");
    await first.close();
    const granted = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<void>();
    const slow: SessionStore = {
      ...store,
      claim: async (...request) => {
        const answer = await store.claim(...request);
        granted.resolve();
        await heard.promise;
        return answer;
      },
    };
    const second = await agent.open({ id: "s", store: slow });
    await granted.promise;
    const closing = second.close();
    heard.resolve();
    await closing;

    expect((await factsOf(store, second)).slice(-2)).toMatchObject([
      { type: "session_claimed", incarnation: 2 },
      { type: "session_released", incarnation: 2 },
    ]);
  },
);

it("a driver that was superseded stores no shutdown", patience, async () => {
  const store = memorySessionStore();
  const agent = defineAgent({ model: scriptedModel([[say("Hel"), stall()]]) });
  const session = await agent.open({ id: "s", store });
  await session.send("hi").until("content_delta");
  const { uid } = (await store.find(session.id)) ?? {};
  if (uid === undefined) throw new Error("the session is not there");
  await store.claim(uid, { from: 1 });
  await session.close();

  expect((await factsOf(store, session)).at(-1)?.type).toBe("session_claimed");
});

it("a claim that names the run it resumes is refused if facts have come meanwhile", async () => {
  const store = memorySessionStore();
  const agent = defineAgent({ model: scriptedModel([[say("Hel"), stall()]]) });
  const session = await agent.open({ id: "s", store });
  const run = session.send("hi");
  await run.until("content_delta");
  const { uid } = (await store.find(session.id)) ?? {};
  if (uid === undefined) throw new Error("the session is not there");
  const head = await store.head(uid);

  const early = await store.claim(uid, { from: 1, head: head - 1, resumes: run.id });
  expect(early).toEqual({ outcome: "moved", incarnation: 1 });
  const claimed = await store.claim(uid, { from: 1, head, resumes: run.id });
  expect(claimed).toMatchObject({ outcome: "claimed", incarnation: 2 });
  await session.close();
});

it("a viewer that disconnects leaves no fact", patience, async () => {
  const store = memorySessionStore();
  const log = memoryEventLog();
  const agent = defineAgent({ model: scriptedModel([[say("Hel"), stall()]]) });
  const session = await agent.open({ id: "s", store, log });
  const run = session.send("hi");
  await run.until("content_delta");
  const { uid } = (await store.find(session.id)) ?? {};
  if (uid === undefined) throw new Error("the session is not there");
  const head = await store.head(uid);
  const leaving = new AbortController();
  const { signal } = leaving;
  for await (const { message } of follow({
    store,
    log,
    clock: systemClock,
    uid,
    sessionId: session.id,
    signal,
  }))
    if ("uid" in message) leaving.abort();
  for await (const { type } of run) if (type === "content_delta") break;

  expect(await store.head(uid)).toBe(head);
  await session.close();
});
