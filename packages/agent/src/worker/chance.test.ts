import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { countingIds, manualClock, say, scriptedModel } from "@millrace/core/testing";
import type { ManualClock } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { machineUse } from "../../../../tests/kit/machine.ts";
import { defineAgent } from "../define/define-agent.ts";
import { createWorker } from "./create-worker.ts";

/** The same call, which fails the first few times, as one to a service that is away does. */
function failingFirst<Call extends (...given: never[]) => Promise<unknown>>(
  times: number,
  call: Call,
): Call {
  let left = times;
  const failing = async (...given: Parameters<Call>): Promise<unknown> => {
    left -= 1;
    if (left >= 0) throw new Error("away");
    return await call(...given);
  };
  return failing as Call; // the same parameters and answer
}

/** Numbers in [0, 1) that are the same each time. */
function counted() {
  const drawn = { count: 0 };
  return { drawn, random: (): number => (drawn.count++ % 97) / 97 };
}

/** Ports of a worker that are away at first. */
function awayAtFirst(store: SessionStore, log: EventLog) {
  const { drivers } = store;
  if (drivers === undefined) throw new Error("a store in memory has an index");
  return {
    store: {
      ...store,
      drivers: { ...drivers, due: failingFirst(2, drivers.due) },
      find: failingFirst(1, store.find),
      read: failingFirst(1, store.read),
      claim: failingFirst(1, store.claim),
    },
    log: { ...log, heads: failingFirst(2, log.heads), nudges: failingFirst(2, log.nudges) },
  };
}

async function pass(clock: ManualClock, isOver: () => boolean): Promise<void> {
  for (let steps = 0; !isOver(); steps += 1) {
    if (steps > 5_000) throw new Error("it was not over after 100 s");
    await clock.advance(20);
    await new Promise(setImmediate);
  }
}

/** A worker that drives one prompt by a clock and chance of its own. Returns its name. */
async function drivePrompt(): Promise<string> {
  const clock = manualClock();
  const { random, drawn } = counted();
  const [store, log] = [
    memorySessionStore({ clock, makeId: countingIds() }),
    memoryEventLog({ clock }),
  ];
  const { uid } = await store.create({ sessionId: "s" });
  const input = { kind: "prompt", parts: [] } as const;
  const sent = { type: "input_accepted", inputId: "input_k", input } as never; // ids are texts
  await store.accept(uid, "k", sent);
  const model = scriptedModel([[say("hello")]], { clock, delayMs: 20 });
  const ports = awayAtFirst(store, log);
  let isOver = false;
  const announce: typeof log.announce = async (of, fact) => {
    isOver ||= fact.type === "run_finished";
    await log.announce(of, fact);
  };
  const worker = await createWorker({
    agent: defineAgent({ model }),
    store: ports.store,
    log: { ...ports.log, announce },
    clock,
    random,
  });
  void worker.run();
  await pass(clock, () => isOver);
  let isShut = false;
  void worker.shutdown().then(() => (isShut = true));
  await pass(clock, () => isShut);
  expect(drawn.count).toBeGreaterThan(20);
  return worker.name;
}

test("a worker takes all chance from its option, also while its store and its log are away", async () => {
  let name = "";
  const used = await machineUse(async () => {
    name = await drivePrompt();
  });

  expect(used).toEqual([]);
  expect(name).toMatch(/^driver_[0-9a-f]{32}$/);
  expect(await drivePrompt()).toBe(name);
});
