import { createServer, connect } from "node:net";
import type { AddressInfo } from "node:net";
import { defineAgent } from "@millrace/agent";
import { createClient, memoryOutbox } from "@millrace/client";
import type { Client, ClientSession } from "@millrace/client";
import { manualClock, say, scriptedModel } from "@millrace/core/testing";
import { expect, it, test } from "vitest";
import { until } from "../kit/until.ts";
import { lossyNetwork } from "./kit/lossy.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const agent = defineAgent({
  model: scriptedModel(
    Array.from({ length: 100 }, () => [say("Yes.")]),
    { delayMs: 1 },
  ),
});

/** What becomes of a promise, so far. */
function standing(work: Promise<unknown>): { readonly of: () => unknown } {
  let now: unknown = "waits";
  work.then(
    (value) => (now = value),
    (error: unknown) => (now = error),
  );
  return { of: () => now };
}

interface Row {
  /** The request, as `lossyNetwork` writes it. */
  readonly pattern: RegExp;
  readonly limitMs: number;
  readonly ask: (session: ClientSession, client: Client) => Promise<unknown>;
}

const large = new File([new Uint8Array(64_000)], "a.bin");
const rows: Readonly<Record<string, Row>> = {
  "a send": {
    pattern: /^POST .*\/inputs/,
    limitMs: 15_000,
    ask: (session) => session.send("Again").accepted,
  },
  "a stop": { pattern: /\/abort/, limitMs: 15_000, ask: (session) => session.abort().accepted },
  "a result": {
    pattern: /^GET .*\/runs\//,
    limitMs: 15_000,
    ask: (session) => session.send("Again").result,
  },
  "an upload": {
    pattern: /^POST .*\/blobs/,
    limitMs: 17_000, // 64,000 bytes have two seconds more
    ask: (session) => session.send([large]).accepted,
  },
  "a record": {
    pattern: /^GET \/v1\/sessions\/held no/,
    limitMs: 15_000,
    ask: ({ details }) => details(),
  },
  "a change": { pattern: /^PATCH/, limitMs: 15_000, ask: ({ update }) => update({ title: "T" }) },
  "a fork": {
    pattern: /\/forks/,
    limitMs: 15_000,
    ask: (session) => session.fork(session.items[1]?.id ?? ""),
  },
  "a list": {
    pattern: /^GET \/v1\/sessions no/,
    limitMs: 15_000,
    ask: (_, { sessions }) => sessions(),
  },
  "a file": {
    pattern: /\/export/,
    limitMs: 60_000,
    ask: async (session) => await (await session.export("markdown")).text(),
  },
};

const cases = Object.keys(rows).flatMap((name) =>
  (["head", "body"] as const).map((where) => [name, where] as const),
);

test.each(cases)(
  "%s whose answer stops before its %s ends is made again on a new connection after its limit, with the same key",
  async (name, where) => {
    const { pattern, limitMs, ask } = rows[name] as Row; // of the names
    await using served = await serve(agent);
    const network = lossyNetwork();
    const clock = manualClock();
    using client = createClient({
      url: served.url,
      token: "ann",
      fetch: network.fetch,
      clock,
      random: () => 0,
      outbox: memoryOutbox(),
    });
    const session = client.session("held");
    session.subscribe(() => undefined);
    await session.send("First").result;
    await until(() => session.items.length === 2, "it is shown");
    network.lose(pattern, where);
    const asked = standing(ask(session, client));
    await until(() => network.lost.length === 1, "it is lost");
    await new Promise((resolve) => void setTimeout(resolve, 20)); // half of the body comes
    await clock.advance(limitMs - 1);
    expect(asked.of()).toBe("waits");

    await clock.advance(50); // small bodies have a few milliseconds too
    await until(
      () => network.passed.includes(network.lost[0] ?? ""),
      "the same request is made again",
      { limitMs: 20_000 },
    );
    await until(async () => (await clock.advance(1), asked.of() !== "waits"), "it is answered");
    expect(asked.of()).not.toBeInstanceOf(Error);
    expect(asked.of()).not.toMatchObject({ accepted: false });
  },
);

it("an answer that goes on is waited for, however long it takes in all", async () => {
  const clock = manualClock();
  let piece: (text: string) => void = () => undefined;
  let end = (): void => undefined;
  const slow = (): Promise<Response> => {
    const body = new ReadableStream<Uint8Array>({
      start: (out) => {
        piece = (text) => out.enqueue(new TextEncoder().encode(text));
        end = () => out.close();
      },
    });
    return Promise.resolve(new Response(body));
  };
  using client = createClient({ url: "http://slow.test", token: "ann", fetch: slow, clock });
  const list = client.sessions();
  for (const text of `{"sessions":[]}`) {
    await clock.advance(14_000);
    piece(text);
    await clock.advance(0);
  }
  end();
  expect(await list).toEqual({ sessions: [] });
});

it("a session that another client makes is found, also if one look for it gets no answer", async () => {
  await using served = await serve(agent);
  const network = lossyNetwork();
  const clock = manualClock();
  const { fetch } = network;
  using client = createClient({ url: served.url, token: "ann", fetch, clock, random: () => 0 });
  using other = createClient({ url: served.url, token: "ann" });
  const session = client.session("later");
  session.subscribe(() => undefined);
  await until(() => !session.loading, "it is missing");
  network.lose(/^GET \/v1\/sessions\/later/, "head");
  await until(
    async () => (await clock.advance(500), network.lost.length === 1),
    "it is looked for",
  );
  await other.session("later").send("Hello").result;

  for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
  await until(() => textOf(session) === "Hello|Yes.", "it is shown", { limitMs: 10_000 });
});

it("a send on a connection that died without a sign holds up nothing for longer than 15 seconds", async () => {
  await using served = await serve(agent);
  await using front = await openFront(served.url);
  const clock = manualClock();
  using client = createClient({ url: front.url, token: "ann", clock, random: () => 0 });
  const session = client.session("held");
  session.subscribe(() => undefined);
  await session.send("First").result;
  front.swallow();
  const sent = ["Second", "Third"].map((text) => standing(session.send(text).accepted));
  const steered = standing(session.steer("Briefly").accepted);
  await until(() => front.swallowed() === 1, "it is swallowed");
  await clock.advance(14_999);
  expect(sent.map(({ of }) => of())).toEqual(["waits", "waits"]);

  await clock.advance(50);
  const all = [...sent, steered];
  const isAnswered = async (): Promise<boolean> => {
    await clock.advance(1);
    return all.every(({ of }) => of() !== "waits");
  };
  await until(isAnswered, "all is answered", { limitMs: 10_000 });
  expect(sent.map(({ of }) => of())).toEqual([{ accepted: true }, { accepted: true }]);
  expect(session.connection).toBe("live");
});

it("a token that never comes is asked for again, and shown as what is missing until it comes", async () => {
  await using served = await serve(agent);
  const clock = manualClock();
  const asked: ((token: string) => void)[] = [];
  let isOut = true;
  using client = createClient({
    url: served.url,
    token: () => (isOut ? new Promise<string>((resolve) => asked.push(resolve)) : "ann"),
    clock,
    random: () => 0.5,
  });
  const session = client.session("later");
  session.subscribe(() => undefined);
  const sent = standing(session.send("Hi").accepted);
  await clock.advance(15_000);
  expect(session.error).toEqual({
    code: "no_token",
    message: "Error: no token within 15000 ms",
  });
  const before = asked.length;
  await clock.advance(10_000);
  expect(asked.length).toBeGreaterThan(before);
  isOut = false;
  await until(async () => (await clock.advance(500), sent.of() !== "waits"), "it is answered");
  expect(sent.of()).toEqual({ accepted: true });
  await until(() => session.items.length === 2, "it is shown");
  expect(session.error).toBeUndefined();
});

/** A TCP proxy that can lose a connection in the middle of a send, and closes none of its ends. */
async function openFront(to: string): Promise<
  AsyncDisposable & {
    readonly url: string;
    /** Nothing passes any more on the connection of the next send, in either direction. */
    readonly swallow: () => void;
    readonly swallowed: () => number;
  }
> {
  let isDue = false;
  let count = 0;
  const sockets = new Set<{ readonly destroy: () => void }>();
  const server = createServer((near) => {
    const far = connect(Number(new URL(to).port), "127.0.0.1");
    let isDead = false;
    near.on("data", (bytes) => {
      if (isDue && /^POST \S*\/inputs/.test(bytes.toString("latin1", 0, 80))) {
        isDue = false;
        isDead = true;
        count += 1;
      }
      if (!isDead) far.write(bytes);
    });
    far.on("data", (bytes) => void (isDead || near.write(bytes)));
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined); // the close that follows is enough
      socket.once("close", () => {
        sockets.delete(socket);
        if (!isDead) for (const end of [near, far]) end.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // listening on a port, it has one
  return {
    url: `http://127.0.0.1:${port}`,
    swallow: () => void (isDue = true),
    swallowed: () => count,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
