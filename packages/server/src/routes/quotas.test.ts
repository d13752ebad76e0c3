import { describe, expect, it } from "vitest";
import { newKey, Served } from "../testing/served.ts";

interface Shown {
  readonly id: string;
  readonly code: string;
  readonly policy: string;
  readonly items: readonly { readonly item: { readonly id: string } }[];
}

async function bodyOf(response: Response): Promise<Shown> {
  return (await response.json()) as Shown; // each test reads what its answer has
}

async function shown(response: Response): Promise<readonly unknown[]> {
  const { code, policy } = await bodyOf(response);
  return [response.status, code, policy];
}

const full = [429, "quota_exceeded", "sessionsPerUser"];

describe("the sessions of a user", () => {
  it("are counted for forks too, and others have their own", async () => {
    await using served = new Served(undefined, { limits: { sessionsPerUser: 2 } });
    await served.create("s");
    const input = { body: { kind: "prompt", text: "go" }, key: newKey() };
    await served.request("/v1/sessions/s/inputs", { ...input, headers: { prefer: "wait=10" } });
    const { items } = await bodyOf(await served.request("/v1/sessions/s/items"));
    const fork = async (): Promise<Response> =>
      served.request("/v1/sessions/s/forks", {
        body: { itemId: items[0]?.item.id },
        key: newKey(),
      });

    expect((await fork()).status).toBe(201);
    expect(await shown(await fork())).toEqual(full);
    const bob = { body: {}, key: newKey(), user: "bob" };
    expect((await served.request("/v1/sessions", bob)).status).toBe(201);
  });

  it("are made once by their key also when there is no room for more", async () => {
    await using served = new Served(undefined, { limits: { sessionsPerUser: 1 } });
    const first = { body: {}, key: newKey() };
    const { id } = await bodyOf(await served.request("/v1/sessions", first));
    const other = { body: {}, key: newKey() };

    expect((await bodyOf(await served.request("/v1/sessions", first))).id).toBe(id);
    expect(await shown(await served.request("/v1/sessions", other))).toEqual(full);
    await served.request(`/v1/sessions/${id}`, { method: "DELETE" });
    expect((await served.request("/v1/sessions", other)).status).toBe(201);
  });
});

describe("the exports of a user", () => {
  it("are limited at once, and one that ends or is left makes room", async () => {
    await using served = new Served(undefined, { limits: { exportsPerUser: 1 } });
    await served.create("s");
    const take = (): Promise<Response> => served.request("/v1/sessions/s/export?format=html");
    const open = await take();

    expect(await shown(await take())).toEqual([429, "quota_exceeded", "exports"]);
    expect((await served.request("/v1/sessions/s/export", { user: "eve" })).status).toBe(404);
    await open.text();
    const second = await take();
    await second.body?.cancel();
    const tag = second.headers.get("etag") ?? "";
    const same = { headers: { "if-none-match": tag } };
    expect((await served.request("/v1/sessions/s/export?format=html", same)).status).toBe(304);
    expect((await take()).status).toBe(200);
  });
});
