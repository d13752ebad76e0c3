import {
  deliveryCases,
  deliveryLossCases,
  eventLogCases,
  eventLogLossCases,
} from "@millrace/conformance";
import { createClient } from "@redis/client";
import { describe, it } from "vitest";
import { sharedRedis } from "../../../../scripts/services/shared.ts";
import { redisFixtures } from "../testing/redis-fixtures.ts";
import { redisLog } from "./redis-log.ts";

const { url, prefix } = await sharedRedis();
const eraser = await createClient({ url }).connect();

const { log, delivery } = redisFixtures({
  prefix,
  open: (options) => redisLog({ url, prefix, ...options }),
  unlink: (_, keys) => eraser.unlink([...keys]),
});

describe("redisLog", () => {
  for (const { name, run } of [...eventLogCases, ...eventLogLossCases]) it(name, () => run(log));
});

describe("memorySessionStore and redisLog", () => {
  for (const { name, run } of [...deliveryCases, ...deliveryLossCases])
    it(name, () => run(delivery));
});
