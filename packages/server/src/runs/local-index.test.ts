import { expect, it } from "vitest";
import { defineAgent } from "@millrace/agent";
import { memorySessionStore } from "@millrace/core/memory";
import { say, scriptedModel } from "@millrace/core/testing";
import { inputId } from "@millrace/core/writing";
import { localIndex } from "./local-index.ts";

it("a store without an index is asked for sessions with work, not for those that have ended theirs", async () => {
  const store = memorySessionStore();
  const agent = defineAgent({ model: scriptedModel([[say("done")]]) });
  await using ended = await agent.open({ id: "ended", store });
  await ended.send("go").result;
  const id = inputId("input_left");
  const input = { kind: "prompt", parts: [] } as const;
  const body = { type: "input_accepted", inputId: id, input } as const;
  await store.create({ sessionId: "left", first: { key: id, body } });

  const due = await localIndex(store).due();

  expect(due.map(({ sessionId }) => sessionId)).toEqual(["left"]);
});
