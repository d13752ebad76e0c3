import { memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { Fact } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import type { Agent } from "../define/agent.ts";

const ada = { user: "ada", via: "web" };
const bob = { user: "bob" };

/** An agent that pays after a question, and the tenants of the accounts that paid. */
function shop(): { readonly agent: Agent; readonly paidBy: readonly string[] } {
  const paidBy: string[] = [];
  const pay = defineTool({
    name: "pay",
    input: z.object({ cents: z.number() }),
    approve: "ask",
    run: (_, { session }) => {
      paidBy.push(session.tenant);
      return "paid";
    },
  });
  const model = scriptedModel([[call("pay", { cents: 5 })], [say("Paid.")], [say("Again.")]]);
  return { agent: defineAgent({ model, tools: [pay] }), paidBy };
}

async function factsOf(store: SessionStore): Promise<readonly Fact[]> {
  const found = await store.find("s");
  return found === undefined ? [] : await store.read(found.uid);
}

/** The store, as one that serves a tenant hands out its records. */
function storeOfTenant(store: SessionStore, tenant: string): SessionStore {
  return {
    ...store,
    create: async (options) => ({ ...(await store.create(options)), tenant }),
    find: async (id) => {
      const record = await store.find(id);
      return record && { ...record, tenant };
    },
  };
}

describe("the tenant of a session", () => {
  it("is the store's, whatever the metadata of the opener names", async () => {
    const { agent, paidBy } = shop();
    const store = memorySessionStore();
    await using session = await agent.open({ id: "s", store, metadata: { tenant: "acme" } });

    await session.send("pay", { ask: () => "allow" }).result;

    expect(paidBy).toEqual(["default"]);
    expect(session.tenant).toBe("default");
  });

  it("comes from the record of a store with tenants, and is kept when it is opened again", async () => {
    const { agent, paidBy } = shop();
    const store = storeOfTenant(memorySessionStore(), "acme");
    await (await agent.open({ id: "s", store, metadata: { tenant: "other" } })).close();
    await using session = await agent.open({ id: "s", store, metadata: { tenant: "third" } });

    await session.send("pay", { ask: () => "allow" }).result;

    expect(paidBy).toEqual(["acme"]);
    expect(session.tenant).toBe("acme");
  });
});

describe("the user of a session", () => {
  it("is its owner, else the one whom the metadata names", async () => {
    const users: string[] = [];
    const whoami = defineTool({
      name: "whoami",
      input: z.object({}),
      run: (_, { session }) => {
        users.push(session.user);
        return "";
      },
    });
    const turns = [[call("whoami", {})], [say("Done.")]];
    const model = scriptedModel([...turns, ...turns]);
    const agent = defineAgent({ model, tools: [whoami] });
    const store = memorySessionStore();
    await store.create({ sessionId: "owned", owner: "ann", metadata: { user: "eve" } });
    await using owned = await agent.open({ id: "owned", store });
    await owned.send("go").result;
    await using named = await agent.open({ id: "named", store, metadata: { user: "bob" } });
    await named.send("go").result;

    expect(users).toEqual(["ann", "bob"]);
  });
});

describe("facts of people", () => {
  it("name the actor with whom the session was opened, unless a call names another", async () => {
    const { agent } = shop();
    const store = memorySessionStore();
    await using session = await agent.open({ id: "s", store, actor: ada });
    const run = session.send("pay");
    const asked = await run.until("approval_requested");
    const steered = session.steer("and quickly");
    await session.takeBack(steered.id).accepted;
    await session.followUp("then go").accepted;
    await session.allow(asked.approvalId, { actor: bob }).accepted;
    await run.result;

    const people = (await factsOf(store)).filter((fact) =>
      ["input_accepted", "queue_updated", "approval_resolved"].includes(fact.type),
    );
    expect(people.map((fact) => [fact.type, "actor" in fact ? fact.actor : undefined])).toEqual([
      ["input_accepted", ada],
      ["input_accepted", ada],
      ["queue_updated", ada],
      ["input_accepted", ada],
      ["approval_resolved", bob],
    ]);
  });

  it("name the sender for a stop of the run and for what its `ask` decides", async () => {
    const { agent } = shop();
    const store = memorySessionStore();
    await using session = await agent.open({ id: "s", store });
    const run = session.send("pay", {
      actor: ada,
      ask: async (): Promise<"deny"> => {
        await run.abort("enough").accepted;
        return "deny";
      },
    });
    await run.result;

    const facts = await factsOf(store);
    const stop = facts.find(
      (fact) => fact.type === "input_accepted" && fact.input.kind === "abort",
    );
    expect(stop).toMatchObject({ actor: ada });
    for (const fact of facts)
      if (fact.type === "approval_resolved") expect(fact.actor).toEqual(ada);
  });

  it("of two openers in one process name each its own actor", async () => {
    const { agent } = shop();
    const store = memorySessionStore();
    await using first = await agent.open({ id: "s", store, actor: ada, drive: false });
    await using second = await agent.open({ id: "s", store, actor: bob, drive: false });
    await first.send("one").accepted;
    await second.send("two").accepted;

    const actors = (await factsOf(store)).map((fact) => "actor" in fact && fact.actor);
    expect(actors).toEqual([ada, bob]);
  });
});
