import { defineAgent, defineTool } from "@millrace/agent";
import { createClient } from "@millrace/client";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const add = defineTool({
  name: "add",
  description: "Adds",
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});

it("older items come by page before those that are shown, each once, with what their calls came to", async () => {
  const long = "x".repeat(6_000);
  const turns = Array.from({ length: 8 }, (_, at) => [
    [call("add", { a: at, b: 1 })],
    [say(`${at} ${long}`)],
  ]);
  const agent = defineAgent({ model: scriptedModel(turns.flat()), tools: [add] });
  await using served = await serve(agent, { streams: { budgetBytes: 16 * 1_024 } });
  using writer = createClient({ url: served.url, token: "ann" });
  const whole = writer.session("long");
  for (let at = 0; at < 8; at += 1) await whole.send(`Question ${at}`).result;
  using client = createClient({ url: served.url, token: "ann", random: () => 0.01 });
  const session = client.session("long");
  session.subscribe(() => undefined);
  await until(() => !session.loading, "it is shown");
  expect(session.earlier).toBeDefined();
  const newest = session.items;
  const last = newest.at(-1);

  let pages = 0;
  const [isMore, again] = await Promise.all([session.loadEarlier(5), session.loadEarlier(5)]);
  expect([isMore, again]).toEqual([true, true]);
  expect(session.items.length).toBeLessThanOrEqual(newest.length + 5); // overlapping calls load one page
  for (; await session.loadEarlier(5); pages += 1) expect(pages).toBeLessThan(20);
  expect(session.earlier).toBeUndefined();
  expect(await session.loadEarlier()).toBe(false);
  expect(session.items.at(-1)).toBe(last); // what was shown is the same object

  const asked = session.items.filter(({ author }) => author === "user");
  expect(asked.map((item) => textOf({ items: [item] }))).toEqual(
    Array.from({ length: 8 }, (_, at) => `Question ${at}`),
  );
  const sums = session.items
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.kind === "tool_call" ? [part] : []));
  expect(sums.map((part) => (part.state === "finished" ? part.output : part.state))).toEqual(
    Array.from({ length: 8 }, (_, at) => at + 1),
  );
  expect(new Set(session.items.map(({ id }) => id)).size).toBe(session.items.length);
});
