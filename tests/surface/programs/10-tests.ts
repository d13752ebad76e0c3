// A test of an agent, with a model that replies by a script.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineAgent } from "@millrace/agent";
import { call, say, scriptedModel, trace } from "@millrace/core/testing";
import { refund } from "./08-spends-money.ts";

await test("a refund above the limit waits for a person", async () => {
  const model = scriptedModel([[call("refund", { order: "A1", cents: 9_000 })], [say("Done.")]]);
  await using session = await defineAgent({ model, tools: [refund] }).open();

  const run = session.send("refund order A1");
  const ask = await run.until("approval_requested"); // rejects if the run ends without it
  session.deny(ask.approvalId, "not today");
  await run.result;

  assert.equal(ask.tool, "refund");
  assert.equal(ask.input.cents, 9_000);
  assert.match(trace(session.transcript), /not today/);
});
