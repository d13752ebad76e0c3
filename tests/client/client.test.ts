import { defineAgent, defineTool } from "@millrace/agent";
import { createClient, memoryOutbox } from "@millrace/client";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const words = Array.from({ length: 15 }, (_, at) => `word ${at}`).join(", ");
const talker = (delayMs = 2): ReturnType<typeof defineAgent> =>
  defineAgent({
    model: scriptedModel(
      Array.from({ length: 50 }, () => [say(words)]),
      { delayMs },
    ),
  });

it("a prompt makes the session, its answer is shown as it is written, and the run has a result", async () => {
  await using served = await serve(talker());
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session("trip");
  const lengths: number[] = [];
  session.subscribe((view) => lengths.push(textOf(view).length));

  const run = session.send("Oslo?");
  const result = await run.result;

  expect(result).toMatchObject({ outcome: "completed", text: words });
  expect(await run.text()).toBe(words);
  expect(textOf(session)).toBe(`Oslo?|${words}`);
  expect(new Set(lengths).size).toBeGreaterThan(5); // not all at once
  expect([session.connection, session.status]).toEqual(["live", "idle"]);
});

it("all sessions of a client share one stream, and a client that joins in the middle shows the same", async () => {
  await using served = await serve(talker(5));
  using ann = createClient({ url: served.url, token: "ann" });
  using phone = createClient({ url: served.url, token: "ann" });
  const ids = ["first", "second", "third"];
  const sessions = ids.map((id) => ann.session(id));
  for (const session of sessions) session.subscribe(() => undefined);
  const runs = sessions.map((session) => session.send("Go"));
  const isTalking = (): boolean => sessions.every((each) => textOf(each).includes("word 5"));
  await until(isTalking, "it talks", { limitMs: 20_000 });
  const others = ids.map((id) => phone.session(id));
  for (const other of others) other.subscribe(() => undefined);
  await until(() => others.every((other) => other.items.some(({ live }) => live)), "it is seen");
  await Promise.all(runs.map((run) => run.result));
  await until(() => others.every(({ status }) => status === "idle"), "all is seen");

  for (const [at, session] of sessions.entries()) {
    expect(textOf(session)).toBe(`Go|${words}`);
    expect(others[at]?.items).toEqual(session.items);
  }
  served.cut(); // open streams are counted when they end
  await until(() => served.requests.some((line) => line.includes("/v1/events")), "they are cut");
  expect(served.requests.filter((line) => line.startsWith("GET /v1/sessions/"))).toHaveLength(3); // the results
});

it("connections that are cut again and again leave no gap and nothing twice", async () => {
  await using served = await serve(talker(10));
  using client = createClient({ url: served.url, token: "ann", random: () => 0.05 });
  using steady = createClient({ url: served.url, token: "ann" });
  const session = client.session("cut");
  const seen: string[] = [];
  session.subscribe((view) => seen.push(textOf(view)));
  const run = session.send("Go");
  let cuts = 0;
  const cutting = setInterval(() => {
    served.cut();
    cuts += 1;
  }, 120);
  const result = await run.result;
  clearInterval(cutting);
  await until(() => session.status === "idle", "it is idle");

  expect(result).toMatchObject({ outcome: "completed", text: words });
  expect(textOf(session)).toBe(`Go|${words}`);
  expect(cuts).toBeGreaterThan(1);
  // What was shown only ever grew.
  for (const [at, text] of seen.entries()) expect(text.startsWith(seen[at - 1] ?? "")).toBe(true);
  expect((await steady.sessions()).sessions).toMatchObject([{ id: "cut", status: "idle" }]);
});

it("Stop from another client ends the run, and the first client sees it", async () => {
  await using served = await serve(talker(20));
  using ann = createClient({ url: served.url, token: "ann" });
  using phone = createClient({ url: served.url, token: "ann" });
  const session = ann.session("stop");
  const run = session.send("Go");
  expect(await run.accepted).toEqual({ accepted: true });
  const other = phone.session("stop");
  other.subscribe(() => undefined);
  const { result } = run;
  await until(() => other.status === "running" && textOf(other).includes("word 2"), "it talks");

  expect(await other.abort("enough").accepted).toEqual({ accepted: true });
  expect(await result).toMatchObject({ outcome: "aborted" });
  expect((await other.run?.result)?.outcome ?? "aborted").toBe("aborted");
});

it("a prompt that was not posted yet is dropped by Stop, and closing a client stops nothing", async () => {
  await using served = await serve(talker(5));
  const client = createClient({ url: served.url, token: "ann" });
  const session = client.session("drop");
  const first = session.send("One");
  const second = session.send("Two");
  expect(session.queue.map(({ text }) => text)).toEqual(["One", "Two"]);
  expect(await second.abort().accepted).toEqual({ accepted: true });
  expect(await second.result).toMatchObject({ outcome: "aborted", text: "" });
  expect(await first.accepted).toEqual({ accepted: true });
  const { result } = first;
  client.close();
  expect(await result).toMatchObject({ outcome: "failed", error: { code: "closed" } });

  using later = createClient({ url: served.url, token: "ann" });
  const again = later.session("drop");
  again.subscribe(() => undefined);
  await until(() => again.status === "idle" && again.items.length === 2, "the run went on");
  expect(textOf(again)).toBe(`One|${words}`);
});

const Refund = z.object({ cents: z.number() });
const refund = defineTool({
  name: "refund",
  description: "Gives money back",
  input: Refund,
  approve: "ask",
  run: ({ cents }) => ({ paid: cents }),
});
const locate = defineTool({
  name: "locate",
  description: "Where the person is",
  input: z.object({}),
  output: z.object({ city: z.string() }),
  run: "client",
});

it("a question is allowed as it was shown, and a call of a client's tool is answered", async () => {
  const model = scriptedModel([
    [call("refund", { cents: 900 })],
    [call("locate", {})],
    [say("Done.")],
  ]);
  await using served = await serve(defineAgent({ model, tools: [refund, locate] }));
  using client = createClient({ url: served.url, token: "ann" });
  const session = client.session();
  session.subscribe(() => undefined);
  const { result } = session.send("Refund me");
  await until(() => session.approvals.length === 1, "it asks");
  const [ask] = session.approvals;
  expect(await session.allow(ask?.id ?? "").accepted).toEqual({ accepted: true });
  const waits = (): string | undefined =>
    session.items
      .flatMap(({ parts }) => parts)
      .flatMap((part) => (part.kind === "tool_call" && part.tool === "locate" ? [part] : []))
      .find(({ state }) => state === "running")?.callId;
  await until(() => waits() !== undefined, "it waits for the client");
  expect(await session.answer(waits() ?? "", { city: "Oslo" }).accepted).toEqual({
    accepted: true,
  });

  expect(await result).toMatchObject({ outcome: "completed", text: "Done." });
  const outputs = session.items
    .flatMap(({ parts }) => parts)
    .flatMap((part) =>
      part.kind === "tool_call" && part.state === "finished" ? [part.output] : [],
    );
  expect(outputs).toEqual([{ paid: 900 }, { city: "Oslo" }]);
  const late = await session.deny(ask?.id ?? "").accepted;
  expect(late).toMatchObject({ accepted: false, error: { cause: { code: "settled" } } });
});

it("another user's session is an empty view, and its first prompt is refused", async () => {
  await using served = await serve(talker());
  using ann = createClient({ url: served.url, token: "ann" });
  using eve = createClient({ url: served.url, token: "eve" });
  await ann.session("secret").send("Mine").result;
  const session = eve.session("secret");
  session.subscribe(() => undefined);
  await until(() => !session.loading, "it is known");
  const sent = await session.send("Show me").accepted;

  expect([session.items, session.error]).toEqual([[], undefined]);
  expect(sent).toMatchObject({ accepted: false, error: { cause: { code: "not_found" } } });
});

it("an expired token is renewed once, for the stream and for sends; one that stays refused is shown", async () => {
  await using served = await serve(talker());
  const asked: boolean[] = [];
  let token = "expired";
  using client = createClient({
    url: served.url,
    token: ({ rejected }) => {
      asked.push(rejected);
      if (rejected) token = "ann";
      return token;
    },
  });
  const session = client.session("renewed");
  session.subscribe(() => undefined);
  expect(await session.send("Go").text()).toBe(words);
  expect(asked.filter(Boolean).length).toBeLessThanOrEqual(2);

  using stranger = createClient({ url: served.url, token: "expired" });
  const other = stranger.session("renewed");
  other.subscribe(() => undefined);
  await until(() => other.error !== undefined, "it is refused");
  expect([other.error?.code, other.connection]).toEqual(["unauthenticated", "offline"]);
  expect(await other.send("Go").accepted).toMatchObject({ accepted: false });
});

it("what an earlier page may have sent is not taken back without the server", async () => {
  await using served = await serve(talker());
  const outbox = memoryOutbox();
  const losing: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!(input as string).endsWith("/inputs")) return response;
    throw new TypeError("the answer was lost");
  };
  const page = createClient({ url: served.url, token: "ann", fetch: losing, outbox });
  await page.sessions(); // the server has named the user
  const before = page.session("back");
  await before.create();
  before.subscribe(() => undefined);
  const { id } = before.send("First");
  await until(() => before.status === "idle" && before.items.length === 2, "it is answered");
  page.close();

  const sending = Promise.withResolvers<void>();
  const slow: typeof fetch = async (input, init) => {
    if ((input as string).endsWith("/inputs")) await sending.promise;
    return await fetch(input, init);
  };
  using next = createClient({ url: served.url, token: "ann", fetch: slow, outbox });
  const session = next.session("back");
  void session.send("Second"); // it goes before what the other page has left
  session.subscribe(() => undefined);
  await until(() => session.items.length === 2, "the server has named the user");
  await new Promise((resolve) => void setTimeout(resolve, 100)); // what was left waits here
  const taken = session.takeBack(id.replace(/^run_/, "input_"));
  sending.resolve();

  expect(await taken.accepted).toMatchObject({ accepted: false });
});

it("a send whose page died before the answer is sent again by the next page, and is stored once", async () => {
  await using served = await serve(talker());
  const outbox = memoryOutbox();
  const lost: string[] = [];
  const losing: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const url = input as string;
    if (!url.endsWith("/inputs")) return response;
    lost.push(url);
    throw new TypeError("the answer was lost");
  };
  const page = createClient({ url: served.url, token: "ann", fetch: losing, outbox });
  await page.sessions(); // the server has named the user
  const created = page.session("kept");
  created.subscribe(() => undefined);
  void created.send("Once");
  await until(() => lost.length > 0, "the server has it");
  await until(() => created.items.length > 0 || lost.length > 1, "it is there");
  page.close();
  expect(await outbox.load()).toHaveLength(1);

  using eve = createClient({ url: served.url, token: "eve", outbox });
  await eve.sessions();
  expect(await outbox.load()).toHaveLength(1); // not hers
  using next = createClient({ url: served.url, token: "ann", outbox });
  await next.sessions();
  await until(async () => (await outbox.load()).length === 0, "it is answered");
  const session = next.session("kept");
  session.subscribe(() => undefined);
  await until(() => session.items.length === 2 && session.status === "idle", "it is answered");
  expect(textOf(session)).toBe(`Once|${words}`);
});
