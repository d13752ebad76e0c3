import { systemClock as clock } from "@millrace/core/ports";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Requests } from "../http/requests.ts";
import { Connector } from "./connector.ts";
import { WatchedSessions } from "./watched.ts";

/** A request that came to the server of these tests. */
interface Asked {
  readonly url: string;
  readonly accept: string;
  readonly prefer: string;
  readonly signal: AbortSignal;
  readonly send: (text: string) => void;
  readonly end: () => void;
  readonly break: () => void;
  readonly answer: (status: number, body?: object, headers?: Record<string, string>) => void;
  /** Sends the head of a stream. */
  readonly open: (headers?: Record<string, string>) => void;
}

/** A client's connection beside a server that is played by the test. */
function setUp(): {
  readonly asked: Asked[];
  readonly last: () => Asked;
  readonly connector: Connector;
  readonly open: () => number;
} {
  const asked: Asked[] = [];
  let open = 0;
  const call = (url: string, { headers, signal }: RequestInit): Promise<Response> => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    let body!: ReadableStreamDefaultController<Uint8Array>;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => void (body = controller),
    });
    const abort = signal as AbortSignal;
    open += 1;
    const over = (): void => void (open -= 1);
    abort.addEventListener("abort", () => {
      over();
      reject(new DOMException("aborted", "AbortError"));
      body.error(new DOMException("aborted", "AbortError"));
    });
    asked.push({
      url,
      accept: (headers as Record<string, string>)["accept"] ?? "",
      prefer: (headers as Record<string, string>)["prefer"] ?? "",
      signal: abort,
      open: (more = {}) => resolve(new Response(stream, { headers: more })),
      send: (text) => body.enqueue(new TextEncoder().encode(text)),
      end: () => body.close(),
      break: () => (reject(new TypeError("broken")), body.error(new TypeError("broken"))),
      answer: (status, json = {}, more = {}) =>
        resolve(new Response(JSON.stringify(json), { status, headers: more })),
    });
    return promise;
  };
  const random = (): number => 0.5;
  const base = { url: "/agent", token: "t", fetch: call as typeof fetch };
  const requests = new Requests({ ...base, random, clock });
  const sessions = new WatchedSessions(clock);
  const connector = new Connector({ requests, sessions, random, clock });
  sessions.of("one").listeners.add(() => undefined);
  connector.take({ type: "watch" });
  return { asked, last: () => asked.at(-1) as Asked, connector, open: () => open };
}

const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("is live with the first byte, and reconnects after 45 s without one", async () => {
  const { asked, last, connector } = setUp();
  await settle();
  last().open();
  await settle();
  expect([connector.machine.state, connector.connection]).toEqual(["opened", "connecting"]);
  last().send("retry: 100\n: \n\n");
  await settle();
  expect(connector.connection).toBe("live");
  await settle(44_000);
  last().send(": \n\n");
  await settle(44_000);
  expect([asked.length, connector.connection]).toEqual([1, "live"]);
  await settle(1_001);
  expect(connector.connection).toBe("reconnecting");
  expect(last().signal.aborted).toBe(true);
  await settle(600);
  expect(asked).toHaveLength(2);
});

it("asks for JSON after two streams that were held back, and for a stream again after ten minutes", async () => {
  const { asked, last, connector, open } = setUp();
  await settle();
  last().open();
  await settle(5_001);
  last().open();
  await settle(5_001);
  expect(asked.map(({ url, accept }) => `${url} ${accept}`)).toEqual([
    "/agent/v1/events text/event-stream",
    "/agent/v1/events text/event-stream",
    "/agent/v1/sessions/one/events application/json",
  ]);
  last().answer(200, { messages: [] });
  await settle();
  expect([connector.connection, connector.machine.form]).toEqual(["live", "json"]);
  for (let polls = 0; connector.machine.form === "json"; polls += 1) {
    expect(polls).toBeLessThan(40);
    last().answer(200, { messages: [] });
    await settle(25_000);
  }
  expect(last().url).toBe("/agent/v1/events");
  await settle();
  last().open();
  last().send(": \n\n");
  await settle();
  expect([connector.machine.form, connector.machine.quiet, open()]).toEqual(["stream", 0, 1]);
});

it("is live by a poll that is answered at once, and finds a lost one as soon as a silent stream", async () => {
  const { asked, last, connector } = setUp();
  await settle();
  const heartbeat = { "millrace-heartbeat": "4000" };
  last().open(heartbeat);
  await settle(5_001);
  last().open(heartbeat);
  await settle(5_001);
  last().answer(200, { messages: [] });
  await settle();
  expect(asked.slice(2).map(({ prefer }) => prefer)).toEqual(["wait=0", "wait=6"]);
  expect(connector.connection).toBe("live");
  await settle(12_001);
  expect(connector.connection).toBe("reconnecting");
});

it("waits for Retry-After, and renews credentials after a 401", async () => {
  const { asked, last, connector } = setUp();
  await settle();
  last().answer(503, {}, { "retry-after": "4" });
  await settle(3_900);
  expect(asked).toHaveLength(1);
  await settle(200);
  expect(asked).toHaveLength(2);
  last().answer(401);
  await settle();
  expect(asked).toHaveLength(3);
  last().answer(401);
  await settle();
  expect([connector.machine.state, connector.machine.refusal]).toEqual([
    "refused",
    { status: 401 },
  ]);
});

it("reads the reason and the pause of an end, and what follows it is dropped", async () => {
  const { asked, last, connector } = setUp();
  await settle();
  last().open();
  last().send(": \n\n");
  await settle(6_000);
  last().send(`retry: 80\ndata: {"v":1,"type":"stream_ended","reason":"recycled"}\n\n: more\n\n`);
  await settle();
  expect([connector.machine.state, connector.connection]).toEqual(["waiting", "live"]);
  await settle(41);
  expect(asked).toHaveLength(2);
  last().break();
  await settle();
  expect(connector.connection).toBe("reconnecting");
});

it("closes the stream when the page is frozen, and opens another when it is back", async () => {
  const { asked, last, connector, open } = setUp();
  await settle();
  last().open();
  last().send(": \n\n");
  await settle();
  connector.take({ type: "freeze" });
  await settle(60_000);
  expect([open(), asked.length]).toEqual([0, 1]);
  connector.take({ type: "thaw" });
  await settle();
  expect([open(), asked.length]).toEqual([1, 2]);
  connector.take({ type: "close" });
  await settle(600_000);
  expect([open(), asked.length]).toEqual([0, 2]);
});
