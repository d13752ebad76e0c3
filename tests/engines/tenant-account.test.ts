import { defineAgent, defineTool } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { postgresStore } from "@millrace/stores/postgres";
import { expect, it } from "vitest";
import { z } from "zod";
import { sharedPostgres } from "../../scripts/services/shared.ts";

it("a tool pays from the account of the store's tenant, whatever an opener writes into the metadata", async () => {
  await using database = await sharedPostgres();
  await using store = postgresStore({ url: database.url, tenant: "acme" });
  await store.migrate();
  await using other = store.forTenant("globex");
  const accounts: string[] = [];
  const pay = defineTool({
    name: "pay",
    input: z.object({}),
    run: (_, { session }) => {
      accounts.push(session.tenant);
      return "paid";
    },
  });
  const replies = [[call("pay", {})], [say("Paid.")]];
  const agent = defineAgent({
    model: scriptedModel([...replies, ...replies, ...replies]),
    tools: [pay],
  });
  const payIn = async (
    from: typeof store,
    metadata: { readonly tenant: string },
  ): Promise<string> => {
    await using session = await agent.open({ id: "shop", store: from, metadata });
    await session.send("pay").result;
    return session.tenant;
  };

  expect(await payIn(store, { tenant: "globex" })).toBe("acme");
  expect(await payIn(other, { tenant: "acme" })).toBe("globex");
  expect(await payIn(store, { tenant: "third" })).toBe("acme"); // opened again
  expect(accounts).toEqual(["acme", "globex", "acme"]);
  expect((await store.list()).map(({ tenant }) => tenant)).toEqual(["acme"]);
});
