import {
  memoryBlobs,
  memoryCounters,
  memoryEventLog,
  memorySessionStore,
} from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import { sessionUid } from "@millrace/core/writing";
import { describe, it } from "vitest";
import { blobStoreCases } from "./blob-store.ts";
import type { BlobStoreFixture } from "./blob-store-fixture.ts";
import { countersCases } from "./counters.ts";
import type { CountersFixture } from "./counters.ts";
import { deliveryCases, deliveryLossCases } from "./delivery.ts";
import type { LosableDeliveryFixture } from "./delivery-fixture.ts";
import { eventLogCases, eventLogLossCases } from "./event-log.ts";
import type { LosableEventLogFixture } from "./event-log-fixture.ts";
import {
  sessionStoreCases,
  sessionStoreCheckpointCases,
  sessionStoreDriverCases,
  sessionStoreHeadsCases,
} from "./session-store.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

const nothing = async (): Promise<void> => undefined;

const log: LosableEventLogFixture = {
  open: async (options) => {
    const opened = memoryEventLog(options);
    return {
      log: opened,
      lose: async (uid, lane) => opened.lose(uid, lane),
      [Symbol.asyncDispose]: nothing,
    };
  },
};

const encodedLog: LosableEventLogFixture = {
  open: async (options) => {
    const opened = memoryEventLog({ ...options, encode: true });
    return {
      log: opened,
      lose: async (uid, lane) => opened.lose(uid, lane),
      [Symbol.asyncDispose]: nothing,
    };
  },
};

const encodedStore: SessionStoreFixture = {
  open: async () => ({
    store: memorySessionStore({ encode: true }),
    [Symbol.asyncDispose]: nothing,
  }),
};

const store: SessionStoreFixture = {
  open: async () => ({ store: memorySessionStore(), [Symbol.asyncDispose]: nothing }),
};

const blobs: BlobStoreFixture = {
  open: async () => ({
    blobs: memoryBlobs(),
    newPlace: async (tenant) => ({ tenant, uid: sessionUid(crypto.randomUUID()) }),
    [Symbol.asyncDispose]: nothing,
  }),
};

const counters: CountersFixture = {
  open: async () => {
    const clock = manualClock(1_700_000_000_000);
    const made = memoryCounters(clock);
    const pass = async (ms: number): Promise<void> => clock.advance(ms);
    return { counters: made, elsewhere: made, pass, [Symbol.asyncDispose]: nothing };
  },
};

const both: LosableDeliveryFixture = {
  open: async (options) => {
    const clock = manualClock(1_700_000_000_000);
    const { lose, ...opened } = await log.open(options);
    return { ...opened, lose, clock, store: memorySessionStore({ clock }) };
  },
};

describe("memoryEventLog", () => {
  for (const { name, run } of [...eventLogCases, ...eventLogLossCases]) it(name, () => run(log));

  describe("that encodes", () => {
    const cases = [...eventLogCases, ...eventLogLossCases];
    for (const { name, run } of cases) it(name, () => run(encodedLog));
  });
});

describe("memorySessionStore", () => {
  const optional = [
    ...sessionStoreHeadsCases,
    ...sessionStoreCheckpointCases,
    ...sessionStoreDriverCases,
  ];
  for (const { name, run } of [...sessionStoreCases, ...optional]) it(name, () => run(store));

  describe("that encodes", () => {
    for (const { name, run } of [...sessionStoreCases, ...optional])
      it(name, () => run(encodedStore));
  });
});

describe("memoryBlobs", () => {
  for (const { name, run } of blobStoreCases) it.concurrent(name, () => run(blobs));
});

describe("memoryCounters", () => {
  for (const { name, run } of countersCases) it(name, () => run(counters));
});

describe("memorySessionStore and memoryEventLog", () => {
  for (const { name, run } of [...deliveryCases, ...deliveryLossCases]) it(name, () => run(both));
});
