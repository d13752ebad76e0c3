import { setImmediate } from "node:timers/promises";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { manualClock } from "@millrace/core/testing";
import { describe, it } from "vitest";
import { deliveryCases, deliveryLossCases } from "./delivery.ts";
import type { LosableDeliveryFixture } from "./delivery-fixture.ts";
import { eventLogCases, eventLogLossCases } from "./event-log.ts";
import { sessionStoreCases } from "./session-store.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

// Engines over a network answer late, and their subscriptions lag. The cases must pass there too,
// and so must everything in core that awaits a port: no code may rely on an immediate answer.

let hops = 0;

/** Yields to the event loop up to three times, in a fixed pseudo-random sequence. */
async function lag(): Promise<void> {
  hops = (Math.imul(hops, 1_664_525) + 1_013_904_223) >>> 0;
  for (let hop = hops >>> 30; hop > 0; hop -= 1) await setImmediate();
}

/** A port whose answers are delayed. */
function late<Port extends object>(port: Port): Port {
  const calls = Object.entries(port).map(([name, call]: [string, unknown]) => {
    if (typeof call !== "function") return [name, call];
    return [
      name,
      async (...given: readonly unknown[]): Promise<unknown> => {
        await lag();
        const answer: unknown = await Reflect.apply(call, port, given);
        await lag();
        return isSubscription(answer) ? lagging(answer) : answer;
      },
    ];
  });
  return Object.fromEntries(calls) as Port;
}

function isSubscription(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;
}

async function* lagging(messages: AsyncIterable<unknown>): AsyncGenerator {
  for await (const message of messages) {
    await lag();
    yield message;
  }
}

function lateStore(store: SessionStore): SessionStore {
  return { ...late(store), now: store.now }; // a clock is read without a call to the engine
}

/** A store alone has the machine's clock: sessions are listed by times, which have to pass. */
const storeFixture: SessionStoreFixture = {
  open: async () => ({
    store: lateStore(memorySessionStore()),
    [Symbol.asyncDispose]: async () => undefined,
  }),
};

const fixture: LosableDeliveryFixture = {
  open: async (options) => {
    const clock = manualClock(1_700_000_000_000);
    const { lose, ...log } = memoryEventLog(options);
    return {
      clock,
      log: late(log),
      store: lateStore(memorySessionStore({ clock })),
      lose: async (uid, lane) => lose(uid, lane),
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
};

describe("a log that answers late", () => {
  for (const { name, run } of [...eventLogCases, ...eventLogLossCases])
    it(name, () => run(fixture));
});

describe("a store that answers late", () => {
  for (const { name, run } of sessionStoreCases) it(name, () => run(storeFixture));
});

describe("a store and a log that answer late", () => {
  for (const { name, run } of [...deliveryCases, ...deliveryLossCases])
    it(name, () => run(fixture), 30_000);
});
