/** A process that drives one session with a scripted model, until its input ends. */
import { once } from "node:events";
import { defineAgent, defineTool } from "@millrace/agent";
import { call, say, scriptedModel, stall } from "@millrace/core/testing";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { z } from "zod";

const [name = "", url = "", redisUrl = "", prefix = ""] = process.argv.slice(2);
await using store = postgresStore({ url });
await using log = redisLog({ url: redisUrl, prefix });
const refund = defineTool({
  name: "refund",
  description: "Pays money back",
  input: z.object({ cents: z.number() }),
  effect: "effectful",
  run: async ({ cents }) => {
    await Promise.resolve();
    return `paid back ${cents}`;
  },
});
const model = scriptedModel([
  [say("Hello.")],
  [call("refund", { cents: 9_000 })],
  [say("Refunded.")],
  [call("refund", { cents: 1 })],
  [say("Not refunded.")],
  [say("Thinking "), stall()], // until it is stopped
]);
const agent = defineAgent({ model, tools: [refund], policy: [{ tool: "refund", policy: "ask" }] });
await using session = await agent.open({ id: name, store, log });
console.log(`ready ${session.id}`);
process.stdin.resume();
await once(process.stdin, "end");
