import { Pool } from "pg";
import { expect, it } from "vitest";
import { postgresStore } from "./postgres-store.ts";

const refused: unknown = expect.objectContaining({
  code: "invalid_definition",
  message: expect.stringMatching(
    /db\.example\.com is not encrypted.*sslmode.*allowPlain: true/,
  ) as unknown,
});

it.each([
  "postgres://u:p@db.example.com/x",
  "postgres://u:p@db.example.com/x?sslmode=disable",
  "postgres:///x?host=db.example.com",
])("a store does not connect to %s without TLS unless that is allowed", async (url) => {
  expect(() => postgresStore({ url })).toThrow(refused);
  expect(() => postgresStore({ pool: new Pool({ connectionString: url }) })).toThrow(refused);
  await using allowed = postgresStore({ url, allowPlain: true });
  expect(allowed.forTenant("other")).toBeDefined();
});

it.each([
  "postgres://u:p@db.example.com/x?sslmode=verify-full",
  "postgres://u:p@db.example.com/x?sslmode=require",
  "postgres://u:p@localhost/x",
  "postgres://u:p@127.0.0.1/x",
  "postgres://u:p@[::1]/x",
  "postgres:///x?host=/var/run/postgresql",
])("a store takes %s", async (url) => {
  await using store = postgresStore({ url });
  expect(store.forTenant("other")).toBeDefined();
});
