import { defineAgent } from "@millrace/agent";
import { createClient, memoryOutbox } from "@millrace/client";
import { say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const words = Array.from({ length: 40 }, (_, at) => `word ${at}`).join(", ");
const talker = (delayMs: number): ReturnType<typeof defineAgent> =>
  defineAgent({
    model: scriptedModel(
      Array.from({ length: 5 }, () => [say(words)]),
      { delayMs, chunk: [8] },
    ),
  });

it("a stream after a cut is asked for from the last message on, and brings no snapshot", async () => {
  await using served = await serve(talker(20));
  const asked: (string | undefined)[] = [];
  const snapshots: number[] = [];
  const watching: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!(input as string).endsWith("/v1/events")) return response;
    const body = JSON.parse(init?.body as string) as { sessions: { cursor?: string }[] };
    asked.push(body.sessions[0]?.cursor);
    const at = snapshots.push(0) - 1;
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, out) => {
        const text = new TextDecoder().decode(bytes);
        snapshots[at] = (snapshots[at] ?? 0) + text.split('"type":"snapshot"').length - 1;
        out.enqueue(bytes);
      },
    });
    return new Response(response.body?.pipeThrough(count) ?? null, response);
  };
  const client = createClient({
    url: served.url,
    token: "ann",
    random: () => 0.05,
    fetch: watching,
  });
  const session = client.session("cut");
  await session.send("Go").accepted;
  session.subscribe(() => undefined);
  await until(() => textOf(session).includes("word 5"), "it talks");
  served.cut();
  await until(() => asked.length === 2, "it is asked for again");
  await until(() => session.status === "idle", "it is over");
  client.close();

  expect(textOf(session)).toBe(`Go|${words}`);
  expect(asked[0]).toBeUndefined();
  expect(asked[1]).toMatch(/^\S+\.\S+$/);
  expect(snapshots).toEqual([1, 0]);
});

it("what did not change is the same object in every later view, also after a cut", async () => {
  await using served = await serve(talker(5));
  using client = createClient({ url: served.url, token: "ann", random: () => 0.05 });
  const session = client.session("same");
  session.subscribe(() => undefined);
  await session.send("One").result;
  await until(() => session.status === "idle" && session.items.length === 2, "it is over");
  const before = session.items;
  const others = new Set<unknown>();
  let views = 0;
  session.subscribe(({ items }) => {
    views += 1;
    for (const [at, item] of before.entries()) if (items[at] !== item) others.add(items[at]);
  });
  const { result } = session.send("Two");
  await until(() => textOf(session).split("word 3").length > 2, "it talks");
  served.cut();
  await result;

  expect(views).toBeGreaterThan(5);
  expect([...others]).toEqual([]);
  expect(session.items.map(({ id }) => id)).toHaveLength(4);
});

it("a send that was stored and whose answer was lost is the same send when the next page repeats it", async () => {
  await using served = await serve(talker(1));
  const outbox = memoryOutbox();
  using steady = createClient({ url: served.url, token: "ann" });
  const session = steady.session("kept");
  session.subscribe(() => undefined);
  await session.send("First").result;
  const losing: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if ((input as string).endsWith("/inputs")) throw new TypeError("the answer was lost");
    return response;
  };
  const page = createClient({ url: served.url, token: "ann", fetch: losing, outbox });
  await page.sessions(); // the server has named the user
  void page.session("kept").send("Once");
  await until(() => session.items.length === 4 && session.status === "idle", "it is stored");
  page.close();
  expect(await outbox.load()).toHaveLength(1);

  using next = createClient({ url: served.url, token: "ann", outbox });
  await next.sessions();
  await until(async () => (await outbox.load()).length === 0, "it is answered");
  await until(() => session.queue.length === 0 && session.status === "idle", "nothing is left");
  expect(textOf(session)).toBe(`First|${words}|Once|${words}`);
});
