import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { defineAgent } from "@millrace/agent";
import type { TenantStore } from "@millrace/agent/worker";
import { memorySessionStore } from "@millrace/core/memory";
import { scriptedModel } from "@millrace/core/testing";
import type { Identity } from "../http/identity.ts";
import { createMillrace } from "./create-millrace.ts";
import { Served } from "../testing/served.ts";

const warned = vi.spyOn(process, "emitWarning");

function warnings(): readonly string[] {
  return warned.mock.calls.flatMap(([message, options]) => {
    const { code, detail } = options as { readonly code?: string; readonly detail?: string };
    return code === "MILLRACE_TENANT_NOT_LISTED" ? [`${String(message)} ${String(detail)}`] : [];
  });
}

beforeEach(() => void warned.mockImplementation(() => undefined));
afterEach(() => void warned.mockReset());
afterAll(() => warned.mockRestore());

/** As PostgreSQL's: stores of all tenants, and an index of one or of all. */
function storeListing(ownTenant: string | undefined): TenantStore {
  const stores = new Map<string, TenantStore>();
  const forTenant = (tenant: string): TenantStore => {
    const store = stores.get(tenant) ?? memorySessionStore();
    stores.set(tenant, store);
    return store;
  };
  return { ...memorySessionStore(), forTenant, ownTenant };
}

async function ask(store: TenantStore, { drive = true, requests = 1 } = {}): Promise<void> {
  let tenants = 0;
  const authenticate = (): Identity => ({ tenant: `t${(tenants += 1)}`, user: "ann" });
  const driver = drive ? undefined : false;
  await using served = new Served(undefined, { store, driver, authenticate });
  for (let n = 0; n < requests; n += 1) await served.request("/v1/sessions");
}

test("the first request of a tenant whose work the store does not list warns, once, with what to do", async () => {
  await ask(storeListing("default"), { requests: 3 });
  const [warning = "", ...more] = warnings();
  expect(warning).toContain('lists work of the tenant "default" alone');
  expect(warning).toContain("acrossTenants: true");
  expect(more).toEqual([]);
});

test.each([
  ["a store that lists all tenants", storeListing(undefined), true],
  ["a store that lists this one", storeListing("t1"), true],
  ["a server that does not drive", storeListing("default"), false],
])("%s warns of nothing", async (_, store, drive) => {
  await ask(store, { drive });
  expect(warnings()).toEqual([]);
});

test("in local mode, whose tenant is known, the warning comes at the start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-"));
  vi.stubEnv("MILLRACE_TOKEN_FILE", join(folder, "token"));
  const agent = defineAgent({ model: scriptedModel([]) });
  await using millrace = createMillrace({ agent, store: storeListing("default") });
  expect(millrace.routes).not.toEqual([]);
  expect(warnings()).toHaveLength(1);
  vi.unstubAllEnvs();
});
