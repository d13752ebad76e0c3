import { describe, expect, it } from "vitest";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { say, scriptedModel } from "@millrace/core/testing";
import type { SessionStore } from "@millrace/core/ports";
import { defineAgent } from "../define/define-agent.ts";
import { longSession } from "../../../../tests/length/long-session.ts";

const replies = Array.from({ length: 50 }, (_, at) => [say(`reply ${at}`)]);
const agentOf = () => defineAgent({ model: scriptedModel(replies) });

/** A store that counts the facts that it gives out. */
function counting(store: SessionStore): {
  readonly store: SessionStore;
  readonly read: () => number;
} {
  let read = 0;
  const counted: SessionStore = {
    ...store,
    read: async (uid, options) => {
      const facts = await store.read(uid, options);
      read += facts.length;
      return facts;
    },
  };
  return { store: counted, read: () => read };
}

/** A long session that its driver has kept a checkpoint of. */
async function kept(
  facts: number,
): Promise<ReturnType<typeof counting> & { readonly first: string }> {
  const memory = memorySessionStore();
  const { uid } = await longSession(memory, "long", facts);
  const agent = agentOf();
  const first = await agent.open({ id: "long", store: memory });
  const run = first.send("hello", { key: "first" });
  await run.result;
  await expect.poll(() => memory.checkpoint?.(uid)).toBeDefined();
  await first.close();
  return { ...counting(memory), first: run.id };
}

describe("a long session", () => {
  it("opens, runs and is watched without reading its past", async () => {
    const { store, read } = await kept(3_000);
    await using session = await agentOf().open({ id: "long", store, log: memoryEventLog() });
    for await (const _ of session.send("again").narrate());
    const events = session.send("once more");
    await events.until("run_finished");
    expect((await events.result).outcome).toBe("completed");
    await session.abort().accepted;

    expect(session.earlier?.count).toBeGreaterThan(100);
    expect(read()).toBeLessThan(100);
  });

  it("gives all items by its history, and a page of them before those that are loaded", async () => {
    const { store } = await kept(3_000);
    const whole = await store.read((await store.find("long"))!.uid);
    await using session = await agentOf().open({ id: "long", store });
    const ids = whole.flatMap((fact) => (fact.type === "item_committed" ? [fact.item.id] : []));

    expect(session.transcript.length).toBeLessThan(ids.length);
    expect((await session.history()).map(({ id }) => id)).toEqual(ids);
    const page = await session.readEarlier({ limit: 7 });
    const end = ids.length - session.transcript.length;
    expect(page.items.map(({ id }) => id)).toEqual(ids.slice(end - 7, end));
    expect(page.earlier?.count).toBe(end - 7);
  });

  it("answers a prompt that is sent again under its key after it was opened anew", async () => {
    const { store, first } = await kept(1_000);
    await using session = await agentOf().open({ id: "long", store });

    const again = session.send("hello", { key: "first" });

    expect(again.id).toBe(first);
    expect(await again.result).toMatchObject({ outcome: "completed", text: "reply 0" });
    const types: string[] = [];
    for await (const { type } of again) types.push(type);
    expect(types.at(0)).toBe("input_accepted");
    expect(types.at(-1)).toBe("run_finished");
  });

  it("is whole when its checkpoint is lost", async () => {
    const { store } = await kept(1_000);
    const { checkpoint: _, keepCheckpoint: __, ...without } = store;
    await using session = await agentOf().open({ id: "long", store: without });

    expect(session.earlier).toBeUndefined();
    expect(await session.history()).toEqual(session.transcript);
  });
});
