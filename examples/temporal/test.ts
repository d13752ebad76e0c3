// Runs the program on servers of its own.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { createClient } from "@millrace/client";
import type { Millrace } from "@millrace/server";
import { postgresStore } from "@millrace/stores/postgres";
import { Pool } from "pg";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import { startTemporal } from "../../scripts/services/temporal.ts";
import { openCell, routeTo } from "./cells.ts";

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

// Two cells: tenants stay where they were assigned, also when newcomers go to another one.
await using second = await sharedPostgres();
await using places = await sharedPostgres();
for (const { url } of [database, second]) {
  await using store = postgresStore({ url });
  await store.migrate();
}
const directory = new Pool({ connectionString: places.url });
await directory.query("create table cells (tenant text primary key, cell text not null)");
const [north, south] = [database, second].map(({ url }) =>
  openCell({ database: url, redis: redis.url, temporal: temporal.url }),
) as [Millrace, Millrace];
for (const [tenant, newcomers, expected] of [
  ["acme", "north", database],
  ["zenith", "south", second],
  ["acme", "south", database],
] as const) {
  const server = createServer(routeTo({ north, south }, newcomers, directory)).listen(0);
  const { port } = server.address() as AddressInfo;
  using client = createClient({ url: `http://127.0.0.1:${port}`, token: tenant });
  const id = `to-${newcomers}`;
  assert.equal((await client.session(id).send("hello").accepted).accepted, true);
  await using store = postgresStore({ url: expected.url, tenant });
  assert.notEqual(await store.find(id), undefined, `${tenant} is in another cell`);
  server.close();
}
console.log("three prompts of two tenants are stored in the cells of their tenants");
process.exit(0); // the servers end with this process
