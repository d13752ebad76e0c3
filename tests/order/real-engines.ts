import { withKeys } from "@millrace/conformance";
import { sessionId } from "@millrace/core/writing";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { createClient } from "@redis/client";
import { Pool } from "pg";
import { keysOf } from "../../packages/stores/src/redis/keys.ts";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import type { Engines, Node } from "./engines.ts";

/** Connections that a node has to PostgreSQL. Its calls are pipelined, so few do for many sessions. */
const connections = 3;

/**
 * PostgreSQL and Redis for any number of sessions at once, seen from two processes: each has its own
 * store and log, so that neither knows what the other wrote last.
 */
export async function realEngines(): Promise<Engines & AsyncDisposable> {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await sharedPostgres());
  const redis = await sharedRedis();
  const nodes: Node[] = [];
  for (const _ of ["one", "other"]) {
    // No server is killed here, and waiting for the disk would take most of the time.
    const options = "-c synchronous_commit=off";
    const settings = { connectionString: database.url, pipeline: true, max: connections, options };
    const pool = opening.adopt(new Pool(settings), (own) => own.end());
    const store = postgresStore({ pool });
    const redisOptions = { url: redis.url, prefix: redis.prefix };
    const log = withKeys(opening.use(redisLog(redisOptions)), store.key);
    if (nodes.length === 0) await store.migrate();
    nodes.push({ store, log });
  }
  const client = createClient({ url: redis.url });
  await client.connect();
  opening.defer(() => client.destroy());
  let names = 0;
  const opened = opening.move();
  return {
    nodes,
    nameSession: () => {
      names += 1;
      return sessionId(`s${names}`);
    },
    lose: async (uid, lanes) => {
      const keys = keysOf(redis.prefix, uid);
      if (lanes.length > 0) await client.unlink(lanes.map(keys.lane));
    },
    remote: true,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
