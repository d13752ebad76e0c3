// A project for PostgreSQL and Redis, with both: two servers, one session.
import { createClient } from "@millrace/client";
import { expect, test } from "vitest";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import { until } from "../kit/until.ts";
import { knownKeys } from "./kit/api-key.ts";
import { projectOnSources } from "./kit/on-sources.ts";

test("with PostgreSQL and Redis two servers of a project show one session, and drain on SIGTERM", async () => {
  await using postgres = await sharedPostgres();
  const { url: redis } = await sharedRedis();
  using project = projectOnSources({
    template: "api",
    vendor: "none",
    run: "services",
    "sign-in": "keys",
  });
  const [{ key: token, env: known }] = knownKeys(1);
  const env = { ...known, DATABASE_URL: postgres.url, REDIS_URL: redis, PORT: "0" };
  await using first = project.start("server.ts", env);
  await using second = project.start("server.ts", env);
  using asking = createClient({ url: await first.url(), token });
  using watching = createClient({ url: await second.url(), token });

  const session = asking.session("lamp");
  const run = session.send("My lamp arrived broken", { ask: () => "allow" });
  const texts = new Set<string>();
  const watched = watching.session("lamp");
  watched.subscribe(({ items }) => texts.add(JSON.stringify(items)));
  expect(await run.text()).toContain("on their way back");
  await until(
    () => watched.status === "idle" && watched.items.length === session.items.length,
    "the other server shows the answer",
  );

  expect(watched.items).toEqual(session.items);
  expect(texts.size).toBeGreaterThan(5); // as it was written
  expect(await first.terminate()).toBe(0);
  expect(await second.terminate()).toBe(0);
});

test("in production a project without the addresses of its services refuses to start", async () => {
  for (const run of ["services", "temporal"] as const) {
    using project = projectOnSources({ template: "api", vendor: "none", run, "sign-in": "keys" });
    const [{ env }] = knownKeys(1);
    await using server = project.start("server.ts", { ...env, PORT: "0" });
    await expect(server.url()).rejects.toThrow(/\nSet DATABASE_URL(?:,| and) REDIS_URL/);
  }
});
