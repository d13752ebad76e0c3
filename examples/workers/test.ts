// Runs the program on servers of its own.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";

await using database = await sharedPostgres();
const redis = await sharedRedis();
const { stdout } = await promisify(execFile)(
  process.execPath,
  ["--conditions=@millrace/source", new URL("main.ts", import.meta.url).pathname],
  { env: { ...process.env, REDIS_URL: redis.url, DATABASE_URL: database.url }, timeout: 60_000 },
);
console.log(stdout);
assert.match(
  stdout,
  /the first worker is dead\n(question \d is taken over\n)+6 questions, 6 answers/,
);
process.exit(0); // the servers end with this process
