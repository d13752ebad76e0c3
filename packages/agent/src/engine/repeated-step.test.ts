import { createInbox } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { defineAgent } from "../define/define-agent.ts";
import { openEngineSession } from "./open.ts";

it("a repeated step whose run has ended leaves the reply of the next run to another step", async () => {
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  const agent = defineAgent({ model: scriptedModel([[say("one")], [say("two")]]) });
  const record = await store.create({ sessionId: "s" });
  const inbox = createInbox({ uid: record.uid, store, log });
  await inbox.send("first", { key: "a" });
  await inbox.send("second", { key: "b" });
  await using session = await openEngineSession({ agent, record, store, log });
  const context = { signal: new AbortController().signal, isCurrent: async () => true };
  const first = { by: "r1", head: 2, work: "reply", generation: 1, given: 1 } as const;
  const replies = async (): Promise<number> =>
    (await store.read(record.uid)).filter(
      (fact) => fact.type === "item_committed" && fact.item.author === "model",
    ).length;
  await session.step({ ...first, attempt: 1 }, context);
  expect(await replies()).toBe(1);

  const repeated = await session.step({ ...first, attempt: 2 }, context); // its first answer was lost

  expect([repeated.outcome, await replies()]).toEqual(["stepped", 1]);
  await session.step({ ...first, generation: 2, given: 2, attempt: 1 }, context);
  expect(await replies()).toBe(2);
});
