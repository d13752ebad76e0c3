import { noUsage, sessionId } from "@millrace/core/writing";
import { memorySessionStore } from "@millrace/core/memory";
import { call, fail, say, scriptedModel, stall } from "@millrace/core/testing";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";

/** Generous for a busy machine. A passing test takes a fraction of it. */
const patience = { timeout: 60_000 };
const soon = { timeout: 5_000 };
const busy = fail("overloaded", "too busy", { retryable: true });

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

describe("an attempt", () => {
  it("that waits for its retry is ended by a stop", patience, async () => {
    const retry = { attempts: 2, baseMs: 600_000, capMs: 600_000 };
    await using session = await defineAgent({ model: scriptedModel([[busy]]), retry }).open();
    const run = session.send("hi");
    await run.until("retry_scheduled");

    run.abort();

    await vi.waitFor(() => expect(session.status).toBe("idle"), soon);
    expect(await run.result).toMatchObject({ outcome: "aborted" });
  });
});

describe("a budget", () => {
  it("that a failed attempt has used up allows no other", patience, async () => {
    let asked = 0;
    const reply = () => {
      asked += 1;
      return [{ usage: { ...noUsage, inputTokens: 100 } }, busy];
    };
    const retry = { attempts: 3, baseMs: 1, capMs: 1 };
    const agent = defineAgent({ model: scriptedModel([reply, reply, reply]), retry });

    const result = await agent.run("hi", { limits: { tokens: 100 } }).result;

    expect(asked).toBe(1);
    expect(result).toMatchObject({ outcome: "failed", usage: { inputTokens: 100 } });
  });
});

describe("a stop", () => {
  it("keeps a follow-up in the queue, which begins no run by itself", patience, async () => {
    const model = scriptedModel([[stall()], [say("never asked for")]]);
    await using session = await defineAgent({ model }).open();
    const run = session.send("a");
    await run.until("turn_started");
    await session.followUp("b").accepted;

    run.abort();
    await run.result;
    await later(20);

    expect(session.status).toBe("idle");
    expect(session.queue).toHaveLength(1);
  });
});

it("the current run uses a follow-up", patience, async () => {
  const model = scriptedModel([[stall(50), say("one")], [say("two")]]);
  await using session = await defineAgent({ model }).open();
  const run = session.send("a");
  await run.until("turn_started");
  await session.followUp("b").accepted;

  expect(await run.text()).toBe("two");
});

it("a call is denied if the ask function throws", patience, async () => {
  let runs = 0;
  const pay = defineTool({
    name: "pay",
    input: z.object({}),
    approve: "ask",
    run: () => (runs += 1),
  });
  const model = scriptedModel([[call("pay", {})], [say("Not paid.")]]);

  const result = await defineAgent({ model, tools: [pay] }).run("pay", {
    ask: () => Promise.reject(new Error("the window was closed")),
  }).result;

  expect(result.outcome).toBe("completed");
  expect(runs).toBe(0);
});

describe("after another process was lost,", () => {
  it("an idempotent call is run again, with the same key", patience, async () => {
    const store = memorySessionStore();
    const keys: string[] = [];
    const put = (hangs: boolean) =>
      defineTool({
        name: "put",
        input: z.object({}),
        effect: "idempotent",
        run: async (_, { effectKey, signal }) => {
          keys.push(effectKey);
          if (hangs) await new Promise((resolve) => signal.addEventListener("abort", resolve));
          return "put";
        },
      });
    const model = scriptedModel([[call("put", {})]]);
    const first = await defineAgent({ model, tools: [put(true)] }).open({ id: "s", store });
    first.send("go");
    await vi.waitFor(() => expect(keys).toHaveLength(1), soon);
    await first.close();

    const next = scriptedModel([[say("Done.")]]);
    const agent = defineAgent({ model: next, tools: [put(false)] });
    await using second = await agent.open({ id: "s", store });

    expect(await second.run?.text()).toBe("Done.");
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
  });

  it("a sub-agent continues its session, and its prompt is stored once", patience, async () => {
    const store = memorySessionStore();
    const lead = (script: Parameters<typeof scriptedModel>[0], child: typeof script) => {
      const packer = defineAgent({ model: scriptedModel(child) });
      const tool = packer.asTool({ name: "packer", description: "Packs" });
      return defineAgent({ model: scriptedModel(script), tools: [tool] });
    };
    let begun = false;
    const hang = () => {
      begun = true;
      return [stall()];
    };
    // Its signs of life do not arrive, so that it counts as dead.
    const { drivers } = store;
    const silent = drivers === undefined ? {} : { drivers: { ...drivers, beat: async () => {} } };
    const first = await lead([[call("packer", { prompt: "Oslo" })]], [hang]).open({
      id: "s",
      store: { ...store, ...silent },
    });
    const { childSessionId } = await first.send("pack").until("tool_execution_started");
    await vi.waitFor(() => expect(begun).toBe(true), soon);

    // The first session is not closed, and its driver does not know of the takeover.
    const elsewhere = { ...store };
    const agent = lead([[say("Take a coat.")]], [[say("A coat.")], [say("another coat")]]);
    await using second = await agent.open({ id: "s", store: elsewhere });
    await second.run?.result;

    const child = await store.find(childSessionId ?? sessionId("none"));
    const facts = child === undefined ? [] : await store.read(child.uid);
    expect(facts.filter(({ type }) => type === "input_accepted")).toHaveLength(1);
    expect(facts.filter(({ type }) => type === "run_finished")).toHaveLength(1);
    await first.close();
  });

  it(
    "a session that is closed lets its sub-agents go, and does not stop them",
    patience,
    async () => {
      const store = memorySessionStore();
      const open = (script: Script, child: Script) => {
        const packer = defineAgent({ model: scriptedModel(child) });
        const tool = packer.asTool({ name: "packer", description: "Packs" });
        return defineAgent({ model: scriptedModel(script), tools: [tool] }).open({
          id: "s",
          store,
        });
      };
      const first = await open([[call("packer", { prompt: "Oslo" })]], [[stall()]]);
      const { childSessionId } = await first.send("pack").until("tool_execution_started");
      const child = async () => await store.find(childSessionId ?? sessionId("none"));
      await vi.waitFor(async () => expect((await child())?.head).toBeGreaterThan(3), soon);

      await first.close();
      await using second = await open([[say("Take a coat.")]], [[say("A coat.")]]);

      expect(await second.run?.text()).toBe("Take a coat.");
      const found = await child();
      const facts = found === undefined ? [] : await store.read(found.uid);
      expect(facts.filter(({ type }) => type === "input_accepted")).toHaveLength(1);
      expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
    },
  );
});

type Script = Parameters<typeof scriptedModel>[0];
