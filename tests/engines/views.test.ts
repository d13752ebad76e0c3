import { defineAgent, defineTool } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { postgresStore } from "@millrace/stores/postgres";
import { Client } from "pg";
import { expect, it } from "vitest";
import { z } from "zod";
import { sharedPostgres } from "../../scripts/services/shared.ts";

it("runs, inputs, tool executions, approvals and usage are tables for readers by SQL", async () => {
  await using database = await sharedPostgres();
  await using store = postgresStore({ url: database.url });
  await store.migrate();
  const pay = defineTool({
    name: "pay",
    input: z.object({ euros: z.number() }),
    approve: "ask",
    run: () => "paid",
  });
  const model = scriptedModel([[call("pay", { euros: 5 })], [say("Paid.")]]);
  await using session = await defineAgent({ model, tools: [pay] }).open({ id: "shop", store });
  await session.send("pay", { ask: () => "allow" }).result;

  const client = new Client({ connectionString: database.url });
  await client.connect();
  await using _ = { [Symbol.asyncDispose]: () => client.end() };
  const rows = async (text: string): Promise<readonly unknown[]> => {
    await client.query("set millrace.tenant = 'default'");
    return (await client.query({ text: `${text} order by n`, rowMode: "array" })).rows;
  };

  expect(await rows("select outcome from millrace.run")).toEqual([["completed"]]);
  expect(await rows("select kind from millrace.input")).toEqual([["prompt"]]);
  expect(await rows("select tool, status from millrace.tool_execution")).toEqual([["pay", "ok"]]);
  expect(await rows("select tool, decision from millrace.approval")).toEqual([["pay", "allow"]]);
  expect(await rows("select input_tokens >= 0 from millrace.usage")).toHaveLength(2);
});
