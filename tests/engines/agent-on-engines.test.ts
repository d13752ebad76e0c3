import { defineAgent, defineTool } from "@millrace/agent";
import { project, textOf } from "@millrace/core";
import { apply, follow, restore } from "@millrace/core/reading";
import type { SessionState } from "@millrace/core";
import { systemClock } from "@millrace/core/memory";
import { call, say, scriptedModel, trace } from "@millrace/core/testing";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { expect, it } from "vitest";
import { z } from "zod";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";

const add = defineTool({
  name: "add",
  input: z.object({ a: z.number(), b: z.number() }),
  effect: "pure",
  run: ({ a, b }, { append }) => {
    append("adding");
    return { sum: a + b };
  },
});

const script: Parameters<typeof scriptedModel>[0] = [
  [say("Let me add that. "), call("add", { a: 1, b: 2 })],
  [say("It is three.")],
];

it("an agent runs on PostgreSQL and Redis by one changed line, and a viewer elsewhere sees the same", async () => {
  await using database = await sharedPostgres();
  const redis = await sharedRedis();
  await using store = postgresStore({ url: database.url });
  await store.migrate();
  await using log = redisLog({ url: redis.url, prefix: redis.prefix });
  const agent = defineAgent({ model: scriptedModel(script, { delayMs: 2 }), tools: [add] });
  await using session = await agent.open({ id: "sum", store, log });
  // A viewer with connections of its own, as in another process.
  await using otherStore = postgresStore({ url: database.url });
  await using otherLog = redisLog({ url: redis.url, prefix: redis.prefix });
  const record = await otherStore.find(session.id);
  if (record === undefined) throw new Error("the session is not stored");

  const done = new AbortController();
  let seen: SessionState | undefined;
  let drafts = 0;
  const watching = (async () => {
    const ports = { store: otherStore, log: otherLog, clock: systemClock };
    const { uid, sessionId } = record;
    for await (const { message } of follow({ ...ports, uid, sessionId, signal: done.signal })) {
      if ("uid" in message) seen = restore(message);
      else if (seen !== undefined) seen = apply(seen, message).state;
      drafts += seen?.lanes.some(({ draft }) =>
        draft.parts.some((part) => part.state === "open" && textOf(part) !== ""),
      )
        ? 1
        : 0;
      if (seen?.ended !== undefined) break;
    }
  })();
  const result = await session.send("what is 1 + 2?").result;
  await watching;
  done.abort();

  expect(result).toMatchObject({ outcome: "completed", text: "It is three." });
  expect(drafts).toBeGreaterThan(0);
  expect(seen === undefined ? undefined : trace(seen.items.toArray())).toBe(
    trace(session.transcript),
  );
  expect(seen === undefined ? undefined : project(seen).items).toStrictEqual(session.items);
});

it("a session that was left on PostgreSQL is taken up where it was", async () => {
  await using database = await sharedPostgres();
  const redis = await sharedRedis();
  await using store = postgresStore({ url: database.url });
  await store.migrate();
  await using log = redisLog({ url: redis.url, prefix: redis.prefix });
  const hanging = scriptedModel([[say("I"), { stall: undefined }]]);
  const first = await defineAgent({ model: hanging }).open({ id: "left", store, log });
  await first.send("go").until("turn_started");
  await first.close();

  const agent = defineAgent({ model: scriptedModel([[say("Back again.")]]) });
  await using second = await agent.open({ id: "left", store, log });

  expect(await second.run?.text()).toBe("Back again.");
  expect(second.transcript.map(({ author }) => author)).toStrictEqual(["user", "model"]);
});
