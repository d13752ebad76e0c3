import { memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";

const pay = defineTool({
  name: "pay",
  input: z.object({}),
  approve: "ask",
  run: () => "paid",
});

function guarded() {
  const model = scriptedModel([[call("pay", {})], [say("done")]]);
  return defineAgent({ model, tools: [pay] });
}

describe("a session that is not driven here", () => {
  it("takes a prompt and never claims", async () => {
    const store = memorySessionStore();
    await using session = await guarded().open({ id: "s", store, drive: false });

    const run = session.send("go");

    expect(await run.accepted).toStrictEqual({ accepted: true });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(session.queue).toHaveLength(1);
    expect((await store.find(session.id))?.incarnation).toBe(0);
  });

  it("sends, steers, approves and reads in a session that another handle drives", async () => {
    const store = memorySessionStore();
    const agent = guarded();
    await using here = await agent.open({ id: "s", store, drive: false });
    const run = here.send("go");
    await run.accepted;
    await using there = await agent.open({ id: "s", store });

    const asked = await run.until("approval_requested");
    here.allow(asked.approvalId);

    expect(await run.text()).toBe("done");
    expect(here.transcript).toStrictEqual(there.transcript);
    expect((await store.find(here.id))?.incarnation).toBe(1);
  });

  it("stops a run that another handle drives", async () => {
    const store = memorySessionStore();
    const agent = guarded();
    await using here = await agent.open({ id: "s", store, drive: false });
    const run = here.send("go");
    await using _there = await agent.open({ id: "s", store });
    await run.until("approval_requested");

    here.abort("enough");

    expect((await run.result).outcome).toBe("aborted");
  });
});

describe("a prompt with a key", () => {
  it("that is sent again is stored once and returns the same run", async () => {
    const store = memorySessionStore();
    await using session = await guarded().open({ id: "s", store, drive: false });

    const [first, second] = [
      session.send("go", { key: "k-1" }),
      session.send("go", { key: "k-1" }),
    ];

    expect(await first.accepted).toStrictEqual({ accepted: true });
    expect(await second.accepted).toStrictEqual({ accepted: true });
    expect(second.id).toBe(first.id);
    expect(session.queue).toHaveLength(1);
  });

  it("that was used for other content is refused, and so is one that could name another's items", async () => {
    const store = memorySessionStore();
    await using session = await guarded().open({ id: "s", store, drive: false });
    await session.send("go", { key: "k-1" }).accepted;

    expect(await session.send("stay", { key: "k-1" }).accepted).toMatchObject({ accepted: false });
    expect(await session.send("go", { key: "k-1_1_0" }).accepted).toMatchObject({
      accepted: false,
      error: { code: "invalid_id" },
    });
    expect(session.queue).toHaveLength(1);
  });

  it("carries its actor in the fact", async () => {
    const store = memorySessionStore();
    await using session = await guarded().open({ id: "s", store, drive: false });
    const actor = { user: "ada", via: "web" };
    await session.send("go", { actor }).accepted;
    const record = await store.find(session.id);

    const facts = record === undefined ? [] : await store.read(record.uid);
    expect(facts.find((fact) => fact.type === "input_accepted")).toMatchObject({ actor });
  });
});

describe("a quick stop", () => {
  it("takes back the prompt that would begin the next run", async () => {
    const store = memorySessionStore();
    await using session = await guarded().open({ id: "s", store, drive: false });
    const run = session.send("go");

    expect(await session.abort().accepted).toStrictEqual({ accepted: true });

    expect((await run.result).outcome).toBe("aborted");
    expect(session.queue).toHaveLength(0);
  });
});
