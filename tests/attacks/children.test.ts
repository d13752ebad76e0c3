/** A child belongs to the session that the store made it for: access follows records, never names. */
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { newKey, Served } from "../../packages/server/src/testing/served.ts";

const secret = "SECRET-4711";

/** An agent with two sub-agents at once: one that asks before it pays, and one that answers at once. */
function payingAgent(): { readonly agent: Agent; readonly paid: readonly number[] } {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    input: z.object({ cents: z.number() }),
    approve: "ask",
    run: ({ cents }) => {
      paid.push(cents);
      return `paid ${secret}`;
    },
  });
  const child = defineAgent({
    model: callingFirst((prompt) => (prompt === "pay" ? [call("pay", { cents: 100 })] : [])),
    tools: [pay],
  });
  const tasks = ["pay", "answer"].map((prompt) => call("helper", { prompt }));
  const helper = child.asTool({ name: "helper", description: "Pays" });
  return { agent: defineAgent({ model: callingFirst(() => tasks), tools: [helper] }), paid };
}

/** A model that makes these calls first, and then says that it is done. */
function callingFirst(callsFor: (prompt: string) => readonly ScriptedPart[]): Model {
  return {
    id: "test/model",
    stream: (request) => {
      const [prompt] = request.transcript[0]?.parts ?? [];
      const isAnswered = request.transcript.some(({ author }) => author === "tool");
      const calls = callsFor(prompt?.kind === "text" ? prompt.text : "");
      const script = isAnswered || calls.length === 0 ? [say("done")] : calls;
      return scriptedModel([script]).stream(request);
    },
  };
}

interface Question {
  readonly id: string;
  readonly sessionId: string;
}

interface Body {
  readonly approvals: readonly Question[];
  readonly sessions: readonly { readonly id: string; readonly parent?: unknown }[];
  readonly items: readonly { readonly item: { readonly id: string; readonly author: string } }[];
}

async function read(served: Served, path: string, user?: string): Promise<Body> {
  const answer = await served.request(path, user === undefined ? {} : { user });
  return (await answer.json()) as Body;
}

/** Ann's session, at the question of its sub-agent. */
async function asking(served: Served, more: object = {}): Promise<Question> {
  await served.create("anns", more);
  const body = { kind: "prompt", text: "go" };
  await served.request("/v1/sessions/anns/inputs", { body, key: newKey() });
  return vi.waitUntil(
    async () => (await read(served, "/v1/sessions/anns/approvals?deep=true")).approvals[0],
    { timeout: 10_000 },
  );
}

async function allow(served: Served, { id, sessionId }: Question, user: string): Promise<number> {
  const path = `/v1/sessions/${sessionId}/approvals/${id}`;
  return (await served.request(path, { user, body: { decision: "allow" } })).status;
}

test("who may only read a session can't decide for its sub-agents", async () => {
  const { agent, paid } = payingAgent();
  await using served = new Served(agent, {
    authorize: ({ who, action, session }) =>
      session.owner === who.user || (who.user === "reader" && action === "read"),
  });
  const question = await asking(served);

  expect(await allow(served, question, "reader")).toBe(403);
  expect(await allow(served, question, "stranger")).toBe(404);
  expect(paid).toEqual([]);
  expect(await allow(served, question, "ann")).toBe(200);
  await vi.waitUntil(() => paid.length > 0);
});

test("a session that has the name of a sub-agent's without being one is not worked in", async () => {
  const { agent, paid } = payingAgent();
  const inner = memorySessionStore();
  const bobs = await inner.create({ sessionId: "bobs", owner: "bob" });
  // As a release that let anyone choose such a name has left it.
  const store: SessionStore = {
    ...inner,
    find: async (name) =>
      name.startsWith("sub_")
        ? { ...bobs, sessionId: name as typeof bobs.sessionId }
        : inner.find(name),
  };
  await using session = await agent.open({ id: "anns", store, owner: "ann" });

  session.send("go", { ask: () => "allow" });

  const results = (): string =>
    session.transcript
      .flatMap(({ parts }) => parts.map((part) => (part.kind === "tool_result" ? part.text : "")))
      .join();
  await vi.waitFor(() => expect(results()).toContain("was not made by this call"), 5_000);
  expect([await inner.head(bobs.uid), paid]).toEqual([0, []]);
});

test("a fork shows nothing of the sub-agents of its source to who may not read that any more", async () => {
  const { agent } = payingAgent();
  await using served = new Served(agent, {
    authorize: ({ who, action, session }) =>
      session.owner === who.user ||
      (["read", "create"].includes(action) && session.metadata["shared"] === who.user),
  });
  const question = await asking(served, { metadata: { shared: "bob" } });
  // The result of the sub-agent that has answered: before it stands the call of the one that asks.
  const itemId = await vi.waitUntil(async () => {
    const { items } = await read(served, "/v1/sessions/anns/items", "bob");
    return items.find(({ item }) => item.author === "tool")?.item.id;
  });
  const body = { itemId, id: "bobs", metadata: {} };
  const fork = await served.request("/v1/sessions/anns/forks", {
    user: "bob",
    body,
    key: newKey(),
  });
  expect(fork.status).toBe(201);
  await served.request("/v1/sessions/anns", {
    method: "PATCH",
    body: { metadata: { shared: null } },
  });
  expect(await allow(served, question, "ann")).toBe(200);
  await vi.waitUntil(async () => {
    const exported = await served.request("/v1/sessions/anns/export?children=true");
    return (await exported.text()).includes(secret);
  });

  expect((await served.request(`/v1/sessions/${question.sessionId}`, { user: "bob" })).status).toBe(
    404,
  );
  expect((await read(served, "/v1/sessions/bobs/approvals?deep=true", "bob")).approvals).toEqual(
    [],
  );
  expect((await read(served, "/v1/sessions?parent=bobs", "bob")).sessions).toEqual([]);
  for (const format of ["jsonl", "markdown", "html"]) {
    const path = `/v1/sessions/bobs/export?children=true&format=${format}`;
    const text = await (await served.request(path, { user: "bob" })).text();
    expect(text).not.toContain(secret);
  }
  const watched = await served.request("/v1/events", {
    user: "bob",
    body: { sessions: [{ id: "bobs" }], children: true },
  });
  expect(await firstText(watched, 500)).not.toContain(secret);
});

/** What a stream sends within some time. */
async function firstText(answer: Response, ms: number): Promise<string> {
  const reader = answer.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const end = setTimeout(() => void reader?.cancel(), ms);
  for (;;) {
    const next = await reader?.read();
    if (next?.done !== false) break;
    text += decoder.decode(next.value, { stream: true });
  }
  clearTimeout(end);
  return text;
}

test("a session that takes the name of a removed one has nothing of that one's sub-agents", async () => {
  const { agent } = payingAgent();
  const inner = memorySessionStore();
  let isTaken = false;
  // As after a removal that was cut off before the children: the name is free, and another user has taken it.
  const store: SessionStore = {
    ...inner,
    find: async (name) => {
      if (!isTaken || name !== "anns") return inner.find(name);
      const bobs = await inner.find("bobs");
      return bobs && { ...bobs, sessionId: "anns" as typeof bobs.sessionId };
    },
  };
  await using served = new Served(agent, { store: () => store });
  const question = await asking(served);
  await served.request("/v1/sessions", { user: "bob", body: { id: "bobs" }, key: newKey() });
  isTaken = true;

  expect((await served.request("/v1/sessions/anns", { user: "bob" })).status).toBe(200);
  for (const path of ["", "/items", "/snapshot", "/export", "/approvals"]) {
    const answer = await served.request(`/v1/sessions/${question.sessionId}${path}`, {
      user: "bob",
    });
    expect([path, answer.status]).toEqual([path, 404]);
  }
  expect(await allow(served, question, "bob")).toBe(404);
  expect((await read(served, "/v1/sessions?parent=anns", "bob")).sessions).toEqual([]);
});
