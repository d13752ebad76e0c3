import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { addedResources, leakedResources, openResources } from "../testing/resources.ts";
import { connectTcp } from "../testing/tcp-peer.ts";
import type { TcpEnd } from "../testing/tcp-peer.ts";
import { pause } from "../testing/wired.ts";
import type { VendorReply, VendorScript } from "./vendor-reply.ts";
import { startVendorServer } from "./vendor-server.ts";
import type { VendorServer } from "./vendor-server.ts";

const servers: VendorServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const serve = (...replies: readonly VendorReply[]): Promise<VendorServer> => serveScript(replies);

async function serveScript(replies: VendorScript): Promise<VendorServer> {
  const server = await startVendorServer({ replies });
  servers.push(server);
  return server;
}

/** A raw request, so that the test sees every byte of the response. */
async function ask(server: VendorServer): Promise<TcpEnd> {
  const end = await connectTcp(server.port, { allowHalfOpen: true });
  end.send("POST /v1/messages?beta=1 HTTP/1.1\r\nhost: x\r\ncontent-length: 7\r\n\r\n");
  end.send('{"a":1}');
  return end;
}

async function bodyOf(server: VendorServer, body = "{}"): Promise<string> {
  return await (await fetch(server.url, { method: "POST", body })).text();
}

const events = 'data: {"n":1}\n\ndata: {"n":2}\n\ndata: [DONE]\n\n';

describe("requests", () => {
  test("are kept with method, path, headers and JSON", async () => {
    const server = await serve({ body: events });

    await fetch(`${server.url}/v1/chat?x=1`, {
      method: "POST",
      headers: { authorization: "Bearer test" },
      body: '{"model":"m"}',
    }).then((response) => response.text());

    expect(server.requests[0]).toMatchObject({
      number: 1,
      connection: 1,
      method: "POST",
      path: "/v1/chat?x=1",
      headers: { authorization: "Bearer test" },
      body: '{"model":"m"}',
      json: { model: "m" },
    });
  });

  test("that are no JSON are kept as text", async () => {
    const server = await serve({ body: events });

    await bodyOf(server, "{");

    expect(server.requests[0]).toMatchObject({ body: "{", json: undefined });
  });

  test("can be waited for", async () => {
    const server = await serve({ body: events }, { body: events });
    const second = server.received(2);

    await bodyOf(server);
    await bodyOf(server);

    expect((await second).number).toBe(2);
    expect((await server.received(1)).number).toBe(1);
  });

  test("that break off are not kept", async () => {
    const server = await serve({ body: events });
    const client = await connectTcp(server.port);
    client.send("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 7\r\n\r\n{");

    client.socket.destroy();

    await expect.poll(() => server.openSockets()).toBe(0);
    expect(server.requests).toEqual([]);
  });
});

describe("a script", () => {
  test("is answered in order, and each reply as often as its `times`", async () => {
    const server = await serve({ body: "a", times: 2 }, { body: "b" });

    const bodies = [await bodyOf(server), await bodyOf(server), await bodyOf(server)];

    expect(bodies).toEqual(["a", "a", "b"]);
  });

  test("that is over answers 400, which no client tries again", async () => {
    const server = await serve();

    const response = await fetch(server.url);

    expect(response.status).toBe(400);
    expect(await response.text()).toContain("no reply for request 1");
  });

  test("can be a function of the request", async () => {
    const server = await serveScript(({ json }) => ({ body: `you said ${JSON.stringify(json)}` }));

    expect(await bodyOf(server)).toBe("you said {}");
  });

  test("whose function throws answers 400 with what it threw", async () => {
    const server = await serveScript(() => {
      throw new Error("no idea");
    });

    const response = await fetch(server.url);

    expect([response.status, await response.text()]).toEqual([
      400,
      '{"error":{"message":"the function for replies threw: Error: no idea","type":"test_script"}}',
    ]);
  });

  test("with a reply that can't be sent ends the connection", async () => {
    const server = await serve({ headers: { "bad name": "x" }, body: "" });

    await expect(fetch(server.url)).rejects.toThrow("fetch failed");
  });
});

describe("a reply", () => {
  test("is an event stream with status 200 by default", async () => {
    const server = await serve({ body: events });

    const response = await fetch(server.url);

    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("date")).toBeNull();
    expect(await response.text()).toBe(events);
  });

  test("has the status and headers that it is given", async () => {
    const headers = { "retry-after": "7", "set-cookie": ["a=1", "b=2"] };
    const server = await serve({ status: 429, headers, body: "{}" });

    const response = await fetch(server.url);

    expect(response.status).toBe(429);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("retry-after")).toBe("7");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  test("can be any bytes", async () => {
    const body = gzipSync(events);
    const server = await serve({ body, headers: { "content-encoding": "gzip" } });
    const raw = await new Promise<IncomingMessage>((resolve) => {
      httpRequest(server.url, resolve).end();
    });

    const pieces = await raw.toArray();

    expect(gunzipSync(Buffer.concat(pieces as Buffer[])).toString()).toBe(events);
  });

  test("leaves the connection for the next request", async () => {
    const server = await serve({ body: "a" }, { body: "b" });
    const client = await ask(server);
    await expect.poll(() => client.received.toString()).toMatch(/a\r\n0\r\n\r\n$/);

    client.send("GET / HTTP/1.1\r\nhost: x\r\n\r\n");

    await expect.poll(() => client.received.toString()).toMatch(/b\r\n0\r\n\r\n$/);
    client.socket.destroy();
    expect(server.requests.map(({ connection }) => connection)).toEqual([1, 1]);
  });

  test.each([
    ["whole", [events]],
    ["event", ['data: {"n":1}\n\n', 'data: {"n":2}\n\n', "data: [DONE]\n\n"]],
    ["byte", events.split("")],
    [
      [5, 3],
      ["data:", ' {"', events.slice(8)],
    ],
  ] as const)("cut by %j is sent in these pieces", async (chunks, pieces) => {
    const server = await serve({ body: events, chunks });
    const client = await ask(server);

    await expect.poll(() => client.received.toString()).toContain("\r\n0\r\n\r\n");

    const sent = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("");
    expect(client.received.toString().split("\r\n\r\n").slice(1).join("\r\n\r\n")).toBe(
      `${sent}0\r\n\r\n`,
    );
    client.socket.destroy();
  });

  test("waits before its head and before each piece", async () => {
    const late = { headersDelayMs: 30, delayMs: [0, 30] };
    const server = await serve({ body: events, chunks: "event", ...late });
    const begun = performance.now();

    const response = await fetch(server.url);
    const head = performance.now() - begun;
    await response.text();

    expect(head).toBeGreaterThanOrEqual(29);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(58);
  });

  test("can be sent over and over until the client leaves", async () => {
    const server = await serve({ body: ": ping\n\n", repeat: Infinity });
    const client = await ask(server);
    await client.until(1_000);

    client.socket.destroy();

    const outcome = await server.requests[0]?.ended;
    expect(outcome?.by).toBe("client");
    expect(outcome?.sentBytes).toBeGreaterThan(100);
  });
});

describe("an end", () => {
  const body = "data: x\n\n";
  const tail = (client: TcpEnd): string => client.received.toString().split("\r\n\r\n")[1] ?? "";

  test("by fin is that of the connection, without length or encoding", async () => {
    const server = await serve({ body, end: "fin" });
    const client = await ask(server);

    expect(await client.ended()).toBe("fin");
    expect(client.received.toString()).not.toMatch(/transfer-encoding|content-length/i);
    expect(tail(client)).toBe("data: x\n\n");
  });

  test("by reset comes behind the last byte", async () => {
    const server = await serve({ body, end: "reset" });
    const client = await ask(server);

    expect(await client.ended()).toBe("ECONNRESET");
    expect(client.received.toString()).toMatch(/9\r\ndata: x\n\n\r\n$/);
  });

  test("of half a chunked body lacks the last chunk", async () => {
    const server = await serve({ body, end: "half_chunk" });
    const client = await ask(server);

    expect(await client.ended()).toBe("fin");
    expect(client.received.toString()).toMatch(/9\r\ndata: x\n\n\r\n$/);
  });

  test("that is short lacks a byte of its content-length", async () => {
    const server = await serve({ body, end: "short" });
    const client = await ask(server);

    expect(await client.ended()).toBe("fin");
    expect(client.received.toString()).toMatch(/content-length: 10\r\n/i);
    expect(tail(client)).toBe(body);
  });

  test("that does not come leaves the connection open until the client closes it", async () => {
    const server = await serve({ body, end: "stay_open" });
    const client = await ask(server);
    await expect.poll(() => client.received.toString()).toContain("data: x");
    expect(server.openSockets()).toBe(1);
    expect(server.requests[0]?.outcome).toBeUndefined();

    client.socket.end();

    expect(await server.requests[0]?.ended).toMatchObject({ by: "client", sentBytes: 9 });
    expect(server.requests[0]?.outcome?.by).toBe("client");
    await expect.poll(() => server.openSockets()).toBe(0);
  });

  test.each(["fin", "reset", "half_chunk", "short"] as const)(
    "by %s fails a fetch unless the bytes say that they are whole",
    async (end) => {
      const server = await serve({ body, end });

      const text = fetch(server.url).then((response) => response.text());

      if (end === "fin") expect(await text).toBe(body);
      else await expect(text).rejects.toThrow();
      expect(await server.requests[0]?.ended).toMatchObject({ by: "server", sentBytes: 9 });
    },
  );

  test("by the client is reported with the bytes that it was sent", async () => {
    const server = await serve({ body: events, chunks: [15], delayMs: [0, 60_000] });
    const client = await ask(server);
    await expect.poll(() => client.received.toString()).toContain('{"n":1}');

    client.socket.resetAndDestroy();

    const outcome = await server.requests[0]?.ended;
    expect(outcome).toMatchObject({ by: "client", sentBytes: 15 });
    expect(outcome?.afterMs).toBeLessThan(30_000);
  });

  test("by the client also ends a head that never comes", async () => {
    const server = await serve({ body: events, headersDelayMs: Infinity });
    const client = await ask(server);
    await server.received(1);
    await pause(20);
    expect(client.received.length).toBe(0);

    client.socket.destroy();

    expect(await server.requests[0]?.ended).toMatchObject({ by: "client", sentBytes: 0 });
  });
});

describe("raw bytes", () => {
  test("go to the socket as they are", async () => {
    const raw = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy";
    const server = await serve({ raw });
    const client = await ask(server);

    expect(await client.ended()).toBe("fin");
    expect(client.received.toString()).toBe(raw);
  });

  test("can be none, with a reset", async () => {
    const server = await serve({ raw: "", end: "reset" });
    const client = await ask(server);

    expect(await client.ended()).toBe("ECONNRESET");
    expect(client.received.length).toBe(0);
  });

  test("can be cut and slow", async () => {
    const server = await serve({ raw: "abc", chunks: "byte", delayMs: 25, end: "stay_open" });
    const client = await ask(server);

    await client.until(3);

    expect(client.reads.map(String)).toEqual(["a", "b", "c"]);
    expect(client.over).toBeUndefined();
    client.socket.destroy();
    expect(await server.requests[0]?.ended).toMatchObject({ by: "client", sentBytes: 3 });
  });
});

describe("close", () => {
  test("ends what is open, and reports the server as its end", async () => {
    const server = await serve({ body: "x", end: "stay_open" });
    const client = await ask(server);
    await client.until(1);

    await server.close();

    expect(await client.ended()).toBe("fin");
    expect(await server.requests[0]?.ended).toMatchObject({ by: "server" });
    expect(server.openSockets()).toBe(0);
    client.socket.destroy();
  });

  test.each<readonly [string, VendorReply]>([
    ["a head that never comes", { body: events, headersDelayMs: Infinity }],
    ["a late head", { body: events, headersDelayMs: 100_000 }],
    ["late pieces", { body: events, chunks: "event", delayMs: [0, 100_000] }],
    ["no end", { body: events, end: "stay_open" }],
    ["a body without end", { body: events, repeat: Infinity, delayMs: 1 }],
    ["raw bytes without end", { raw: "HTTP/1.1 200 OK\r\n", end: "stay_open" }],
  ])("leaves no socket and no timer behind, with %s", async (_, reply) => {
    await pause(1);
    const before = openResources();
    const server = await serve({ ...reply, times: 6 });
    // Several, because a runner's timer that ends meanwhile would hide one that leaks.
    const clients = await Promise.all(Array.from({ length: 6 }, () => ask(server)));
    await server.received(6);
    await pause(5);
    expect(addedResources(before)).toContain("TCPSocketWrap");

    await server.close();
    await Promise.all(clients.map((client) => client.ended()));
    for (const client of clients) client.socket.destroy();

    expect(await leakedResources(before)).toEqual([]);
  });

  test("can be called twice", async () => {
    const server = await serve();

    await server.close();
    await server.close();

    await expect(connectTcp(server.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
