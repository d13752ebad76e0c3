import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import type { Model } from "@millrace/core";
import { say, scriptedModel } from "@millrace/core/testing";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../define/define-agent.ts";
import type { Session } from "../session/session.ts";
import { firstSeed, runs } from "../../../../tests/kit/runs.ts";

/** A model that counts its requests and answers each with one word. */
function countingModel() {
  const count = { requests: 0 };
  const model: Model = {
    id: "counting/model",
    stream: (request) => {
      count.requests += 1;
      return scriptedModel([[say("ok")]], { chunk: "whole" }).stream(request);
    },
  };
  return { model, count };
}

/** The store as one more process has it, with the delays of a network, by a generator of random numbers. */
function ofProcess(store: SessionStore, random: () => number): SessionStore {
  const later = async <T>(work: () => Promise<T>): Promise<T> => {
    await new Promise((resolve) => setTimeout(resolve, random() * 3));
    const value = await work();
    if (random() < 0.5) await new Promise((resolve) => setTimeout(resolve, random() * 3));
    return value;
  };
  return {
    ...store,
    read: (uid, options) => later(() => store.read(uid, options)),
    claim: (uid, request) => later(() => store.claim(uid, request)),
    accept: (uid, key, body) => later(() => store.accept(uid, key, body)),
    open: (uid, request) => later(() => store.open(uid, request)),
    commit: (uid, request) => later(() => store.commit(uid, request)),
    append: (uid, request) => later(() => store.append(uid, request)),
  };
}

function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("a session that several processes hold open", () => {
  it("is driven by exactly one of them for each prompt", { timeout: 600_000 }, async () => {
    const [processes, sessions, prompts] = [4, 10, runs(500, 10_000)];
    const random = randomOf(firstSeed);
    const [shared, log] = [memorySessionStore(), memoryEventLog()];
    const { model, count } = countingModel();
    const agent = defineAgent({ model });
    const open: Session[][] = [];
    for (let at = 0; at < processes; at += 1) {
      const store = ofProcess(shared, random);
      const ids = Array.from({ length: sessions }, (_, number) => `s${number}`);
      open.push(await Promise.all(ids.map((id) => agent.open({ id, store, log }))));
    }

    const outcomes: string[] = [];
    const ask = async (number: number): Promise<void> => {
      for (let at = number; at < prompts; at += sessions) {
        const session = open[Math.floor(random() * processes)]?.[number];
        const result = await session?.send(`prompt ${at}`).result;
        outcomes.push(result?.outcome ?? "none");
      }
    };
    await Promise.all(Array.from({ length: sessions }, (_, number) => ask(number)));

    expect(outcomes.filter((outcome) => outcome === "completed")).toHaveLength(prompts);
    expect(count.requests).toBe(prompts);
    console.log(
      `count: one driver for each prompt, ${prompts} prompts to ${sessions} sessions in ${processes} processes, ${count.requests} model requests`,
    );
    for (const session of open.flat()) await session.close();
  });
});
