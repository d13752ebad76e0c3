import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { openEngineSession } from "@millrace/agent/engine";
import type { EngineSession, StepAnswer, StepRequest } from "@millrace/agent/engine";
import { createInbox } from "@millrace/core";
import type { Fact } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { Random } from "../../../../tests/kit/random.ts";
import { firstSeed, runs } from "../../../../tests/kit/runs.ts";
import { StepEngine } from "../testing/step-engine.ts";

const histories = runs(60, 5_000);

/** What tools did, by tool and key. */
type Effects = Map<string, number>;

/** Asks for an effect, something pure and something that may be repeated, and then answers. */
function agentOf(effects: Effects): Agent {
  const tool = (name: string, effect: "pure" | "idempotent" | "effectful") =>
    defineTool({
      name,
      input: z.object({ key: z.string() }),
      effect,
      run: async ({ key }, { effectKey }) => {
        await sleep(1);
        effects.set(`${name} ${effectKey}`, (effects.get(`${name} ${effectKey}`) ?? 0) + 1);
        await sleep(1);
        return `${name} ${key}`;
      },
    });
  return defineAgent({
    model: {
      id: "m",
      stream: (request) => {
        const isAnswered = request.transcript.at(-1)?.author === "tool";
        const calls = ["pay", "look", "again"].map((name) => call(name, { key: "k" }));
        const reply = isAnswered ? [say("all is done")] : [say("I begin"), ...calls];
        return scriptedModel([reply], { delayMs: 0, chunk: [3] }).stream(request);
      },
    },
    tools: [tool("pay", "effectful"), tool("look", "pure"), tool("again", "idempotent")],
  });
}

/** Runs each step at one of three workers, and loses attempts at any moment, with or without ending them. */
class LossyWorkers {
  readonly #workers: readonly EngineSession[];
  readonly #random: Random;
  lost = 0;

  constructor(workers: readonly EngineSession[], random: Random) {
    this.#workers = workers;
    this.#random = random;
  }

  async step(request: Omit<StepRequest, "attempt">): Promise<StepAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const worker = this.#random.pick(this.#workers);
      const given = new AbortController();
      const isLost = this.#random.chance(0.4) && attempt < 6;
      const isZombie = isLost && this.#random.chance(0.5);
      const context = { signal: given.signal, isCurrent: async () => true };
      const stepping = worker.step({ ...request, attempt }, context);
      if (!isLost) return await stepping;
      this.lost += 1;
      stepping.catch(() => undefined);
      await sleep(this.#random.next() * 8);
      if (!isZombie) given.abort(); // a zombie goes on, and is fenced
    }
  }
}

async function check(seed: number): Promise<number> {
  const random = new Random(seed);
  const effects: Effects = new Map();
  const agent = agentOf(effects);
  const store = memorySessionStore();
  const log = memoryEventLog();
  const record = await store.create({ sessionId: "s" });
  const inbox = createInbox({ uid: record.uid, store, log });
  await inbox.send("begin", { key: "k" });
  const workers = await Promise.all(
    [1, 2, 3].map(() => openEngineSession({ agent, record, store, log })),
  );
  const lossy = new LossyWorkers(workers, random);
  await new StepEngine(`run-${seed}`, (request) => lossy.step(request)).run();
  await sleep(20); // zombies end
  const facts = await store.read(record.uid);
  judge(facts, effects);
  await Promise.all(workers.map((worker) => worker.close()));
  return lossy.lost;
}

function judge(facts: readonly Fact[], effects: Effects): void {
  const items = facts.flatMap((fact) => (fact.type === "item_committed" ? [fact.item] : []));
  expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  expect(items.filter(({ author }) => author === "tool")).toHaveLength(3);
  const texts = items.flatMap(({ author, parts }) =>
    author === "model" ? parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])) : [],
  );
  expect(texts).toStrictEqual(["I begin", "all is done"]);
  expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
  expect(facts.filter(({ type }) => type === "session_claimed")).toHaveLength(1);
  for (const [key, count] of effects) if (key.startsWith("pay")) expect(count).toBe(1);
}

it("whatever attempts are lost, and whatever zombies do, a run ends once, with each item once and no effect twice", async () => {
  console.log(`SEED=${firstSeed}`);
  let lost = 0;
  for (let at = 0; at < histories; at += 1) {
    try {
      lost += await check(firstSeed + at);
    } catch (error) {
      throw new Error(`SEED=${firstSeed + at}`, { cause: error });
    }
  }
  console.log(`count: ${histories} runs, ${lost} attempts lost`);
  expect(lost).toBeGreaterThan(histories / 2);
}, 600_000);
