import {
  deliveryCases,
  deliveryLossCases,
  eventLogCases,
  eventLogLossCases,
} from "@millrace/conformance";
import type { LosableDeliveryFixture, LosableEventLogFixture } from "@millrace/conformance";
import { manualClock, memorySessionStore } from "@millrace/core/reference";
import { createClient } from "@redis/client";
import { describe, it } from "vitest";
import { sharedRedis } from "../../../../scripts/services/shared.ts";
import { keysOf } from "./keys.ts";
import { redisLog } from "./redis-log.ts";

const { url, prefix } = await sharedRedis();
const eraser = await createClient({ url }).connect();

const log: LosableEventLogFixture = {
  open: async (options) => {
    const opened = redisLog({ url, prefix, ...options });
    return {
      log: opened,
      lose: async (uid, lane) => {
        const keys = keysOf(prefix, uid);
        const lanes = lane === undefined ? [0, 1, 2, 3, 4, 5, 6, 7] : [lane];
        await eraser.unlink(lanes.map((one) => keys.lane(one)));
      },
      [Symbol.asyncDispose]: opened.close,
    };
  },
};

const both: LosableDeliveryFixture = {
  open: async (options) => {
    const clock = manualClock(1_700_000_000_000);
    const { lose, ...opened } = await log.open(options);
    return { ...opened, lose, clock, store: memorySessionStore({ clock }) };
  },
};

describe("redisLog", () => {
  for (const { name, run } of [...eventLogCases, ...eventLogLossCases]) it(name, () => run(log));
});

describe("memorySessionStore and redisLog", () => {
  for (const { name, run } of [...deliveryCases, ...deliveryLossCases]) it(name, () => run(both));
});
