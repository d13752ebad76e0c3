// A project that `npm create millrace` made for Temporal: its server posts and reads, and its worker drives.
import { createClient } from "@millrace/client";
import { expect, it } from "vitest";
import { startPostgres } from "../../scripts/services/postgres.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { startTemporal } from "../../scripts/services/temporal.ts";
import { knownKeys } from "../create/kit/api-key.ts";
import { makeRoles } from "../create/kit/database.ts";
import { projectOnSources } from "../create/kit/on-sources.ts";

it("the worker of a new project drives what its server accepts, and both drain on SIGTERM", async () => {
  await using postgres = await startPostgres();
  await using redis = await startRedis();
  await using temporal = await startTemporal();
  using project = projectOnSources({
    template: "api",
    vendor: "none",
    run: "temporal",
    "sign-in": "keys",
  });
  const { owner, app } = await makeRoles(postgres, project.path);
  await using migration = project.start("migrate.ts", { OWNER_URL: owner });
  expect(await migration.exit()).toBe(0);
  const [{ key: token, env: known }] = knownKeys(1);
  const env = {
    DATABASE_URL: app,
    REDIS_URL: redis.url,
    TEMPORAL_ADDRESS: temporal.url,
    ...known,
    PORT: "0",
  };
  await using server = project.start("server.ts", env);
  using client = createClient({ url: await server.url(), token });
  const run = client.session().send("My lamp arrived broken", { ask: () => "allow" });
  const { accepted } = await run.accepted;
  expect(accepted).toBe(true);

  await using worker = project.start("worker.ts", env);
  expect(await run.text()).toContain("on their way back");
  expect(await worker.terminate()).toBe(0);
  expect(await server.terminate()).toBe(0);
});
