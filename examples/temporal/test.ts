// Runs the program on servers of its own.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import { startTemporal } from "../../scripts/services/temporal.ts";

await using database = await sharedPostgres();
const redis = await sharedRedis();
await using temporal = await startTemporal();
const { stdout } = await promisify(execFile)(
  process.execPath,
  ["--conditions=@millrace/source", new URL("main.ts", import.meta.url).pathname],
  {
    env: {
      ...process.env,
      REDIS_URL: redis.url,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.url,
    },
    timeout: 120_000,
  },
);
console.log(stdout);
assert.match(
  stdout,
  /> Pack a raincoat, and boots for the hills\. [^>]*\n {2}\(the worker is dead\)\n> Pack/,
);
assert.match(stdout, /completed, 2 replies stored, 840 characters shown\n$/);
process.exit(0); // the servers end with this process
