import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

/** The address for a new role with these attributes. */
async function urlFor(attributes: string): Promise<string> {
  const role = `role_${randomUUID().slice(0, 8)}`;
  await database.admin(`create role ${role} login password 'secret' ${attributes}`);
  await database.admin(`grant ${database.role} to ${role}`);
  return database.url.replace(/\/\/[^@]*@/, `//${role}:secret@`);
}

it.each([
  ["warns once for a superuser", "superuser", 1],
  ["warns once for a role that bypasses row-level security", "bypassrls", 1],
  ["does not warn for the role of an application", "", 0],
])("a store %s, however many tenants and calls it has", async (_, attributes, expected) => {
  const talk = randomUUID();
  using warned = vi.spyOn(process, "emitWarning").mockReturnValue();
  const url = await urlFor(attributes);
  await using store = postgresStore({ url });
  for (const tenant of ["default", "a", "b"]) {
    await store.forTenant(tenant).create({ sessionId: talk });
    await Promise.all(Array.from({ length: 5 }, () => store.forTenant(tenant).find(talk)));
  }
  const ours = warned.mock.calls.filter(
    ([, options]) =>
      (options as unknown as { readonly code: string }).code === "MILLRACE_UNPROTECTED_ROWS",
  );
  expect(ours).toHaveLength(expected);
  if (expected > 0) expect(JSON.stringify(ours)).toContain("migrate({ role })");
  expect(JSON.stringify(ours)).not.toContain("secret");
});
