import { deliveryCases, deliveryLossCases } from "@millrace/conformance";
import type { LosableDeliveryFixture, OpenedDelivery } from "@millrace/conformance";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import type { ManualClock } from "@millrace/core/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openLoopback } from "../testing/loopback.ts";
import type { Loopback } from "../testing/loopback.ts";
import { createHub } from "./hub.ts";
import type { Hub } from "./hub.ts";
import type { HubOptions } from "./options.ts";

let loopback: Loopback;
beforeAll(async () => {
  loopback = await openLoopback();
});
afterAll(() => loopback[Symbol.asyncDispose]());

/** How a viewer reads. */
interface Way {
  readonly watch: Loopback["watch"];
  /** Wraps the clock so that advancing it also waits for bytes on their way over sockets. */
  readonly clockOf: (clock: ManualClock) => ManualClock;
  readonly leftOut: readonly string[];
}

const inProcess: Way = {
  watch: (hub, options) => hub.watch(options),
  clockOf: (clock) => clock,
  leftOut: [],
};

const overSockets: Way = {
  watch: (hub, options) => loopback.watch(hub, options),
  clockOf: (clock) => ({
    ...clock,
    advance: async (ms) => {
      await clock.advance(ms);
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    },
  }),
  // The case compares with cursors from before they were cut to the length of a header.
  leftOut: ["a cursor too small for all lanes still brings back all of them"],
};

/** Reads through hubs: one for each pair of store and log. */
function throughHubs(
  kept: Partial<HubOptions>,
  { watch }: Way,
): NonNullable<OpenedDelivery["follow"]> {
  const hubs = new Map<EventLog, Map<SessionStore, Hub>>();
  return ({ store, log, clock, pollMs, ...watched }) => {
    const ofLog = hubs.get(log) ?? new Map<SessionStore, Hub>();
    const hub = ofLog.get(store) ?? createHub({ store, log, clock, pollMs, ...kept });
    hubs.set(log, ofLog.set(store, hub));
    return watch(hub, watched);
  };
}

describe.each<[string, Partial<HubOptions>, Way]>([
  ["a hub and memoryEventLog", {}, inProcess],
  ["a hub that keeps little and memoryEventLog", { keptMessages: 4 }, inProcess],
  ["a hub, sockets and memoryEventLog", {}, overSockets],
  ["a hub that keeps little, sockets and memoryEventLog", { keptMessages: 4 }, overSockets],
])("%s", (_, kept, way) => {
  const fixture: LosableDeliveryFixture = {
    open: async (options) => {
      const clock = way.clockOf(manualClock(1_700_000_000_000));
      const log = memoryEventLog(options);
      return {
        log,
        clock,
        store: memorySessionStore({ clock }),
        follow: throughHubs(kept, way),
        lose: async (uid, lane) => log.lose(uid, lane),
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
  };
  for (const { name, run } of [...deliveryCases, ...deliveryLossCases])
    if (!way.leftOut.includes(name)) it(name, () => run(fixture));
});
