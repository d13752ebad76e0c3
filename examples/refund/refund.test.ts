import { defineAgent } from "@millrace/agent";
import { call, say, scriptedModel, trace } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { payments } from "./payments.ts";
import { refund } from "./refund.ts";

// #region test
test("a refund above the limit waits for a person", async () => {
  const model = scriptedModel([[call("refund", { order: "A1", cents: 9_000 })], [say("Done.")]]);
  await using session = await defineAgent({ model, tools: [refund] }).open();

  const run = session.send("refund order A1");
  const ask = await run.until("approval_requested"); // rejects if the run ends without it
  session.deny(ask.approvalId, "not today");
  await run.result;

  expect(ask).toMatchObject({ tool: "refund", input: { cents: 9_000 } });
  await expect(trace(session.transcript)).toMatchFileSnapshot("refund-denied.jsonl");
});
// #endregion

test("what was denied was not paid, and what is below the limit is paid once", async () => {
  expect(payments.paid()).toEqual([]);
  const model = scriptedModel([[call("refund", { order: "A2", cents: 300 })], [say("Done.")]]);

  const text = await defineAgent({ model, tools: [refund] })
    .run("refund order A2")
    .text();

  expect(text).toBe("Done.");
  expect(payments.paid()).toEqual([300]);
});

test("with nobody to ask the answer is no", async () => {
  const model = scriptedModel([[call("refund", { order: "A3", cents: 9_000 })], [say("Sorry.")]]);

  const run = defineAgent({ model, tools: [refund] }).run("refund order A3");
  const answer = await run.until("approval_resolved");

  expect(answer).toMatchObject({ decision: "deny", reason: "there is nobody to ask" });
  expect(await run.text()).toBe("Sorry.");
  expect(payments.paid()).not.toContain(9_000);
});
