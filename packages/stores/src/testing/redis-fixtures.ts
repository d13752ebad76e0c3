import type { LosableDeliveryFixture, LosableEventLogFixture } from "@millrace/conformance";
import { memorySessionStore } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import { keysOf } from "../redis/keys.ts";
import type { RedisLog, RedisLogOptions } from "../redis/redis-log.ts";

export interface RedisFixtureOptions {
  readonly prefix: string;
  readonly open: (options?: RedisLogOptions) => RedisLog;
  /** Deletes keys, all of one slot, behind the log's back. */
  readonly unlink: (slot: number, keys: readonly string[]) => Promise<unknown>;
}

export interface RedisFixtures {
  readonly log: LosableEventLogFixture;
  readonly delivery: LosableDeliveryFixture;
}

const everyLane = [0, 1, 2, 3, 4, 5, 6, 7];

/** What the conformance cases run on: logs of one Redis or cluster, alone and beside a store in memory. */
export function redisFixtures({ prefix, open, unlink }: RedisFixtureOptions): RedisFixtures {
  const log: LosableEventLogFixture = {
    open: async (options) => {
      const opened = open(options);
      return {
        log: opened,
        lose: async (uid, lane) => {
          const keys = keysOf(prefix, uid);
          const lanes = lane === undefined ? everyLane : [lane];
          await unlink(keys.slot, lanes.map(keys.lane));
        },
        [Symbol.asyncDispose]: opened.close,
      };
    },
  };
  const delivery: LosableDeliveryFixture = {
    open: async (options) => {
      const clock = manualClock(1_700_000_000_000);
      const { lose, ...opened } = await log.open(options);
      return { ...opened, lose, clock, store: memorySessionStore({ clock }) };
    },
  };
  return { log, delivery };
}
