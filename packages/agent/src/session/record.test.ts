import { callId } from "@millrace/core/writing";
import { memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";

const input = z.object({});
const pay = defineTool({ name: "pay", input, approve: "ask", run: () => "paid" });
const locate = defineTool({ name: "locate", input, output: z.string(), run: "client" });

async function recordOf(store: SessionStore, id: string): Promise<SessionRecord | undefined> {
  return await store.find(id);
}

it("a new session has the owner and the title with which it is opened, an old one keeps its own", async () => {
  const store = memorySessionStore();
  const agent = defineAgent({ model: scriptedModel([]) });
  await (await agent.open({ id: "s", store, owner: "ann", title: "Refund" })).close();
  await (await agent.open({ id: "s", store, owner: "bob", title: "Other" })).close();

  expect(await recordOf(store, "s")).toMatchObject({ owner: "ann", title: "Refund" });
});

it("the record of a sub-agent's session names the session and the call that it works for", async () => {
  const store = memorySessionStore();
  const helper = defineAgent({ model: scriptedModel([[say("Helped.")]]) });
  const agent = defineAgent({
    model: scriptedModel([
      [call("helper", { prompt: "help" }, { callId: callId("call_7") })],
      [say("Done.")],
    ]),
    tools: [helper.asTool({ name: "helper", description: "Helps" })],
  });
  await using session = await agent.open({ id: "s", store, owner: "ann" });
  await session.send("go").result;

  const { records } = await store.page({ parent: "s" });
  const uid = (await store.find("s"))?.uid;
  expect(records.map(({ parent }) => parent)).toEqual([{ uid, sessionId: "s", callId: "call_7" }]);
  expect((await store.page()).records.map(({ sessionId }) => sessionId)).toEqual(["s"]);
});

it("a session is paused while its run waits for a person or for a client, and only then", async () => {
  const store = memorySessionStore();
  const model = scriptedModel([[call("pay", {})], [call("locate", {})], [say("Paid.")]]);
  await using session = await defineAgent({ model, tools: [pay, locate] }).open({ id: "s", store });
  const status = async (): Promise<string | undefined> => (await recordOf(store, "s"))?.status;
  const isPaused = async (): Promise<void> => expect(await status()).toBe("paused");
  expect(await status()).toBe("idle");
  const run = session.send("go");

  const { approvalId } = await run.until("approval_requested");
  await vi.waitFor(isPaused);
  await session.allow(approvalId).accepted;
  const calls = async (): Promise<readonly string[]> =>
    (await store.read((await recordOf(store, "s"))!.uid)).flatMap((fact) =>
      fact.type === "tool_execution_started" && fact.tool === "locate" ? [fact.callId] : [],
    );
  await vi.waitFor(async () => expect(await calls()).toHaveLength(1));
  await isPaused();
  await session.answer((await calls())[0]!, { output: "Oslo" }).accepted;
  await run.result;
  expect(await status()).toBe("idle");
});
