import { afterEach, describe, expect, test } from "vitest";
import { addedResources, leakedResources, openResources } from "../testing/resources.ts";
import { connectTcp } from "../testing/tcp-peer.ts";
import { closeOpened, numbered, openClient, openProxy, pause, wire } from "../testing/wired.ts";
import { createRandom } from "./random.ts";

afterEach(closeOpened);

describe("without faults", () => {
  test("bytes go both ways as they are", async () => {
    const { client, server } = await wire();
    const bytes = numbered(300_000);

    client.send(bytes);
    server.send("hello");

    expect((await server.until(bytes.length)).equals(bytes)).toBe(true);
    expect((await client.until(5)).toString()).toBe("hello");
  });

  test("it counts what each direction carried", async () => {
    const { client, server, proxy } = await wire();

    client.send("four");
    await server.until(4);
    server.send("seven77");
    await client.until(7);

    expect(proxy.connections()).toMatchObject([
      { id: 1, open: true, endedBy: undefined, toServer: { bytes: 4 }, toClient: { bytes: 7 } },
    ]);
  });

  test("an end of the client reaches the server, which can still answer", async () => {
    const { peer, proxy } = await openProxy();
    const client = await openClient(proxy, { allowHalfOpen: true });
    const server = await peer.end();

    client.socket.end("question");

    expect(await server.ended()).toBe("fin");
    expect(server.received.toString()).toBe("question");
    server.socket.end("answer");
    expect(await client.ended()).toBe("fin");
    expect(client.received.toString()).toBe("answer");
    expect(proxy.connections()[0]?.endedBy).toBe("client");
  });

  test("a reset by the server reaches the client behind the bytes before it", async () => {
    const { client, server, proxy } = await wire();
    client.send("x");
    await server.until(1);

    server.socket.write("last words", () => server.socket.resetAndDestroy());

    expect(await client.ended()).toBe("ECONNRESET");
    expect(client.received.toString()).toBe("last words");
    expect(proxy.connections()[0]?.endedBy).toBe("server");
  });

  test("a reset by the client reaches the server", async () => {
    const { client, server } = await wire();

    client.socket.resetAndDestroy();

    expect(await server.ended()).toBe("ECONNRESET");
  });

  test("the end of a client reaches a server that goes on sending", async () => {
    const { client, server } = await wire();
    client.socket.destroy();
    expect(await server.ended()).toBe("fin");
    const failed = new Promise((resolve) => server.socket.once("error", resolve));

    const timer = setInterval(() => server.send("more"), 1);

    expect(["EPIPE", "ECONNRESET"]).toContain(((await failed) as NodeJS.ErrnoException).code);
    clearInterval(timer);
  });

  test("a target that can't be reached resets the client", async () => {
    const { peer, proxy } = await openProxy();
    await peer[Symbol.asyncDispose]();

    const client = await openClient(proxy);

    expect(await client.ended()).toBe("ECONNRESET");
  });

  test("a client that does not read holds up the server, and memory stays small", async () => {
    const { client, server, proxy } = await wire();
    client.socket.pause();

    const drained = server.socket.write(Buffer.alloc(32 * 1024 * 1024));
    await pause(50);

    expect(drained).toBe(false);
    expect(proxy.connections()[0]?.toClient.held).toBeLessThan(1024 * 1024);
    expect(server.socket.writableLength).toBeGreaterThan(0);
  });
});

describe("while it runs", () => {
  test("new connections are refused and open ones live on, until they are let in again", async () => {
    const { client, server, proxy } = await wire();

    await proxy.refuse(true);
    await expect(connectTcp(proxy.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    client.send("still here");
    expect((await server.until(10)).toString()).toBe("still here");
    await proxy.refuse(false);
    const late = await openClient(proxy);
    late.send("in");

    await expect.poll(() => proxy.connections()[1]?.toServer.bytes).toBe(2);
  });

  test("faults that were set apply to connections to come", async () => {
    const { proxy, peer } = await openProxy();
    proxy.set("to_client", { cut: { at: 1, by: "fin" } });

    const client = await openClient(proxy);
    (await peer.end()).send("abc");

    expect(await client.ended()).toBe("fin");
    expect(client.received.toString()).toBe("a");
  });

  test("any faults, changed at any time, lose and double no byte", async () => {
    const random = createRandom(11);
    const { client, server, proxy } = await wire({ seed: 11 });
    const bytes = numbered(60_000);
    const draw = (most: number): number => 1 + Math.floor(random() * most);

    for (let from = 0; from < bytes.length;) {
      const size = draw(2_000);
      server.send(bytes.subarray(from, from + size));
      from += size;
      proxy.set("to_client", {
        ...(random() < 0.3 ? { delayMs: draw(3) } : {}),
        ...(random() < 0.3 ? { jitterMs: draw(3) } : {}),
        ...(random() < 0.5 ? { slice: { bytes: draw(400), random: random() < 0.5 } } : {}),
        ...(random() < 0.3 ? { buffer: { bytes: draw(3_000) } } : {}),
        ...(random() < 0.2 ? { stall: { at: draw(60_000), forMs: draw(3) } } : {}),
        ...(random() < 0.2 ? { freeze: { at: draw(60_000) } } : {}),
        ...(random() < 0.2 ? { bytesPerSecond: 1_000_000 * draw(9) } : {}),
      });
      if (random() < 0.3) proxy.flush();
      if (random() < 0.5) await pause(1);
    }
    proxy.clear();

    expect((await client.until(bytes.length)).equals(bytes)).toBe(true);
    await expect
      .poll(() => proxy.connections()[0]?.toClient)
      .toMatchObject({ bytes: bytes.length, held: 0 });
  });

  test.each([
    ["slice.bytes", { slice: { bytes: 0 } }],
    ["cut.at", { cut: { at: -1, by: "fin" } }],
    ["delayMs", { delayMs: Number.NaN }],
    ["bytesPerSecond", { bytesPerSecond: 0 }],
  ] as const)("a fault with a %s that means nothing is refused", async (name, faults) => {
    const { proxy } = await openProxy();

    expect(() => proxy.set("both", faults)).toThrow(name);
  });
});

describe("close", () => {
  test.each([
    ["no faults", {}],
    ["a delay", { delayMs: 100_000 }],
    ["a stall", { stall: { at: 1, forMs: 100_000 } }],
    ["a freeze", { freeze: { at: 1 } }],
    ["a buffer", { buffer: { bytes: 100 } }],
    ["a slow slice", { slice: { bytes: 1, everyMs: 100_000 } }],
    ["a low limit", { bytesPerSecond: 1 }],
  ] as const)("leaves no socket and no timer behind, with %s", async (_, faults) => {
    await pause(1);
    const before = openResources();
    const { peer, proxy } = await openProxy({ toClient: faults, toServer: faults });
    // Several, because a runner's timer that ends meanwhile would hide one that leaks.
    for (let index = 0; index < 6; index += 1) {
      const client = await openClient(proxy);
      client.send("abc");
      (await peer.end(index)).send("abc");
    }
    await pause(5);
    const during = addedResources(before);

    await proxy.close();
    await closeOpened();

    expect(during).toContain("TCPSocketWrap");
    expect(await leakedResources(before)).toEqual([]);
    expect(proxy.connections().some(({ open }) => open)).toBe(false);
  });

  test("can be called twice, and accepts no connection afterwards", async () => {
    const { proxy } = await wire();

    await proxy.close();
    await proxy.close();
    await proxy.refuse(false);

    await expect(connectTcp(proxy.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
