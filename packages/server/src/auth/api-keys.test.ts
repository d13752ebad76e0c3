import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { describe, expect, it, vi } from "vitest";
import { Served } from "../testing/served.ts";
import { apiKeys, createApiKey } from "./api-keys.ts";
import type { StoredApiKey } from "./api-keys.ts";

/** A server whose keys are these, and what it answers to a bearer. */
function serverOf(stored: Map<string, StoredApiKey>, prefix?: string): Served {
  return new Served(undefined, { authenticate: apiKeys({ find: (id) => stored.get(id), prefix }) });
}

async function status(served: Served, bearer: string): Promise<number> {
  const headers = { authorization: `Bearer ${bearer}` };
  return (await served.request("/v1/sessions", { headers })).status;
}

const ann = { tenant: "acme", user: "ann" };

describe("an API key", () => {
  it("is admitted by its stored hash, until it is revoked", async () => {
    const { key, id, hash } = createApiKey();
    const stored = new Map([[id, { ...ann, hash }]]);
    await using served = serverOf(stored);
    expect(await status(served, key)).toBe(200);
    stored.delete(id);
    expect(await status(served, key)).toBe(401);
  });

  it("is never stored: neither the id nor the hash opens anything", async () => {
    const { key, id, hash } = createApiKey();
    await using served = serverOf(new Map([[id, { ...ann, hash }]]));
    const [, , secret = ""] = key.split(".");
    expect(hash).not.toContain(secret);
    for (const bearer of [hash, id, `millrace.${id}.${hash}`, `millrace.${id}.`]) {
      expect(await status(served, bearer)).toBe(401);
    }
  });

  it("of an unknown id, with another secret, or in another form is 401", async () => {
    const { key, id, hash } = createApiKey();
    await using served = serverOf(new Map([[id, { ...ann, hash }]]));
    const other = createApiKey();
    const [, , secret = ""] = other.key.split(".");
    const bearers = [other.key, `millrace.${id}.${secret}`, key.slice(0, -1), `${key}.x`, "x", id];
    for (const bearer of bearers) expect(await status(served, bearer)).toBe(401);
  });

  it("has a prefix by which leaked ones are found, and another prefix is 401", async () => {
    const { key, id, hash } = createApiKey("shop");
    expect(key).toMatch(/^shop\.[0-9a-f]{18}\.[\w-]{43}$/);
    const stored = new Map([[id, { ...ann, hash }]]);
    await using shop = serverOf(stored, "shop");
    await using plain = serverOf(stored);
    expect([await status(shop, key), await status(plain, key)]).toEqual([200, 401]);
  });

  it("that has expired is 401", async () => {
    const { key, id, hash } = createApiKey();
    const stored = new Map([[id, { ...ann, hash, expiresAt: Date.now() - 1 }]]);
    await using served = serverOf(stored);
    expect(await status(served, key)).toBe(401);
  });

  it("is 503 while keys can't be looked up, never a yes", async () => {
    const find = (): never => {
      throw new Error("no database");
    };
    await using served = new Served(undefined, { authenticate: apiKeys({ find }) });
    expect(await status(served, createApiKey().key)).toBe(503);
  });

  it("is compared in constant time, also where its id is unknown or its stored hash broken", async () => {
    const { key, id } = createApiKey();
    using compared = vi.spyOn(crypto, "timingSafeEqual");
    syncBuiltinESMExports();
    for (const stored of [[], [[id, { ...ann, hash: "zz" }]], [[id, { ...ann, hash: "" }]]]) {
      await using served = serverOf(new Map(stored as [string, StoredApiKey][]));
      compared.mockClear();
      expect(await status(served, key)).toBe(401);
      expect(compared).toHaveBeenCalledTimes(1);
    }
    compared.mockRestore();
    syncBuiltinESMExports();
  });
});
