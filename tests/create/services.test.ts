// A project for PostgreSQL and Redis, with both: two servers, one session.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@millrace/client";
import { postgresStore } from "@millrace/stores/postgres";
import { Pool } from "pg";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { startPostgres } from "../../scripts/services/postgres.ts";
import { sharedRedis } from "../../scripts/services/shared.ts";
import { until } from "../kit/until.ts";
import { knownKeys } from "./kit/api-key.ts";
import { makeRoles } from "./kit/database.ts";
import { projectOnSources } from "./kit/on-sources.ts";

test("with PostgreSQL and Redis two servers of a project show one session, and drain on SIGTERM", async () => {
  await using postgres = await startPostgres();
  const { url: redis } = await sharedRedis();
  using project = projectOnSources({
    template: "api",
    vendor: "none",
    run: "services",
    "sign-in": "keys",
  });
  const [{ key: token, env: known }] = knownKeys(1);
  const { owner, app } = await makeRoles(postgres, project.path);
  await using migration = project.start("migrate.ts", { OWNER_URL: owner });
  expect([await migration.exit(), migration.lines]).toEqual([0, []]);
  const env = { ...known, DATABASE_URL: app, REDIS_URL: redis, PORT: "0" };
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
  expect(first.lines.filter((line) => line.includes("UNPROTECTED"))).toEqual([]);
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

test("a project's roles are bound by row-level security, and that of its servers can't change tables or facts", async () => {
  await using server = await startPostgres();
  const answers = { template: "api", vendor: "none", run: "temporal", "sign-in": "keys" } as const;
  using project = projectOnSources(answers);
  const { owner, app, temporal } = await makeRoles(server, project.path);
  await using migration = project.start("migrate.ts", { OWNER_URL: owner });
  expect(await migration.exit()).toBe(0);
  expect(
    await server.query(
      "select rolname, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole from pg_roles where rolname in ('owner', 'app', 'temporal') order by 1",
    ),
  ).toBe("app|f|f|f|f\nowner|f|f|f|f\ntemporal|f|f|t|f");

  const refused = async (url: string, sql: string): Promise<string> => {
    await using pool = disposable(new Pool({ connectionString: url }));
    return await pool.query(sql).then(
      () => "done",
      (error: Error) => error.message,
    );
  };
  await using store = postgresStore({ url: app, tenant: "a" });
  await store.create({ sessionId: "plan" });
  await using pool = disposable(new Pool({ connectionString: app }));
  const all = await pool.query("select name from millrace.session");
  expect(all.rows).toEqual([]); // no tenant is set
  for (const sql of [
    "create table millrace.other (a int)",
    "create table public.other (a int)",
    "create schema other",
    "alter table millrace.session disable row level security",
    "delete from millrace.fact",
    "create role other",
    "create database other",
    "set role owner",
  ])
    expect(await refused(app, sql), sql).toMatch(/permission denied|must be owner/);
  const elsewhere = temporal.replace(/postgres$/, "sessions");
  expect(await refused(elsewhere, "select 1")).toMatch(/permission denied for database/);
});

test("a project starts with the addresses of its compose file, which no TLS protects", async () => {
  for (const run of ["services", "temporal"] as const) {
    using project = projectOnSources({ template: "api", vendor: "none", run, "sign-in": "keys" });
    const file = readFileSync(join(project.path, "compose.yaml"), "utf8");
    const text = file.replaceAll(/\$\{APP_PASSWORD:\?[^}]*\}/g, "x"); // as .env has it
    const { services } = parse(text, { merge: true }) as {
      readonly services: { readonly app: { readonly environment: Record<string, string> } };
    };
    const [{ env }] = knownKeys(1);
    await using server = project.start("server.ts", {
      ...services.app.environment,
      ...env,
      PORT: "0",
    });
    await expect(server.url()).resolves.toContain("http://");
  }
});

function disposable(pool: Pool): Pool & AsyncDisposable {
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end() });
}
