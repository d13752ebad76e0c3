/** One session, two sides: a worker drives it, a page sends, decides and watches. */
import { defineAgent, defineTool } from "@millrace/agent";
import { createInbox } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { z } from "zod";

const refund = defineTool({
  name: "refund",
  description: "Gives a customer's money back",
  input: z.object({ cents: z.number() }),
  approve: "ask",
  run: ({ cents }) => `paid back ${cents} cents`,
});
const model = scriptedModel([
  [call("refund", { cents: 9_000 })],
  [say("The money is on its way.")],
  [say("You're welcome.")],
]);
const agent = defineAgent({ model, tools: [refund] });

const store = memorySessionStore(); // postgresStore() and redisLog(), where the sides are processes
const log = memoryEventLog();
// #region sides
await using worker = await agent.open({ id: "refunds", store, log });
await using page = await agent.open({ id: "refunds", store, log, drive: false });

const actor = { user: "ann", via: "web" };
const run = page.send("Refund order A1, 90 dollars.", { key: "order-a1", actor });
page.send("Refund order A1, 90 dollars.", { key: "order-a1", actor }); // a repeat: stored once
const question = await run.until("approval_requested");
page.allow(question.approvalId, { actor });
console.log(await run.text());
// #endregion

// #region inbox
const { uid } = (await store.find(page.id))!;
const inbox = createInbox({ store, log, uid, actor });
const posted = await inbox.send("Thank you!", { key: "thanks-1" });
console.log(posted); // durable, or refused with a reason; never rejects
// #endregion
if (!posted.accepted || posted.runId === undefined) throw new Error("refused");
await worker.run?.result;
