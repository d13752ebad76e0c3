import { afterEach, describe, expect, test } from "vitest";
import { closeOpened, numbered, openClient, openProxy, pause, wire } from "../testing/wired.ts";
import { drawsOf } from "./faulty-connection.ts";

afterEach(closeOpened);

describe("cut", () => {
  test.each([0, 1, 2, 63, 64, 65, 4_095, 65_536, 99_999])(
    "by fin at byte %i gives exactly these bytes and an end",
    async (at) => {
      const { client, server } = await wire({ toClient: { cut: { at, by: "fin" } } });
      const bytes = numbered(100_000);

      server.send(bytes);

      expect(await client.ended()).toBe("fin");
      expect(client.received.equals(bytes.subarray(0, at))).toBe(true);
      expect(await server.ended()).toBe("fin");
    },
  );

  test.each([1, 2, 63, 64, 65, 4_095, 65_536, 99_999])(
    "by rst at byte %i gives exactly these bytes and ECONNRESET",
    async (at) => {
      const { client, server } = await wire({ toClient: { cut: { at, by: "rst" } } });
      const bytes = numbered(100_000);

      server.send(bytes);

      expect(await client.ended()).toBe("ECONNRESET");
      expect(client.received.equals(bytes.subarray(0, at))).toBe(true);
      expect(await server.ended()).toBe("ECONNRESET");
    },
  );

  test("in the direction of the server counts what the client sends", async () => {
    const { client, server, proxy } = await wire({ toServer: { cut: { at: 5, by: "fin" } } });

    server.send("more than five bytes go this way");
    await client.until(32);
    client.send("GET / HTTP/1.1");

    expect(await server.ended()).toBe("fin");
    expect(server.received.toString()).toBe("GET /");
    expect(proxy.connections()[0]).toMatchObject({ endedBy: "proxy", toServer: { bytes: 5 } });
  });

  test("a reset on connecting is an error for the client", async () => {
    const { proxy } = await openProxy({ toClient: { cut: { at: 0, by: "rst" } } });

    const outcome = openClient(proxy).then(
      (client) => client.ended(),
      (error: unknown) => (error as NodeJS.ErrnoException).code,
    );

    expect(await outcome).toBe("ECONNRESET");
  });

  test("whose place has gone by strikes at once, also without new bytes", async () => {
    const { client, server, proxy } = await wire();
    server.send("already here");
    await client.until(12);

    proxy.set("to_client", { cut: { at: 3, by: "rst" } });

    expect(await client.ended()).toBe("ECONNRESET");
    expect(client.received.toString()).toBe("already here");
  });

  test("with slices and delay still falls on its byte", async () => {
    const { client, server } = await wire({
      toClient: { cut: { at: 10, by: "rst" }, slice: { bytes: 4 }, delayMs: 2 },
    });

    server.send("0123456789abcdef");

    expect(await client.ended()).toBe("ECONNRESET");
    expect(client.received.toString()).toBe("0123456789");
  });

  test.each([
    ["fin", "fin"],
    ["rst", "ECONNRESET"],
  ] as const)("of all connections by %s reaches each client", async (by, seen) => {
    const { proxy, client, server, peer } = await wire();
    const other = await openClient(proxy);
    other.send("x");
    client.send("x");
    await server.until(1);
    await expect.poll(() => proxy.connections()[1]?.toServer.bytes).toBe(1);

    proxy.cutAll(by);
    // These two allow a half-closed connection, so they have to close their own half.
    server.socket.end();
    (await peer.end(1)).socket.end();

    expect(await Promise.all([client.ended(), other.ended(), server.ended()])).toEqual([
      seen,
      seen,
      seen,
    ]);
    await expect.poll(() => proxy.connections().map(({ open }) => open)).toEqual([false, false]);
  });

  test("can be aimed at one connection alone", async () => {
    const { proxy, peer } = await openProxy({
      onConnection: (connection) => {
        if (connection.id === 1) connection.set("to_client", { cut: { at: 2, by: "rst" } });
      },
    });
    const first = await openClient(proxy);
    const second = await openClient(proxy);

    (await peer.end(0)).send("abcdef");
    (await peer.end(1)).send("abcdef");

    expect([(await first.until(6)).toString(), (await second.until(6)).toString()]).toEqual([
      "ab",
      "abcdef",
    ]);
    expect([first.over, second.over]).toEqual(["ECONNRESET", undefined]);
  });
});

describe("time", () => {
  test("a delay holds back bytes of its direction alone", async () => {
    const { client, server } = await wire({ toClient: { delayMs: 60 } });
    const begun = performance.now();
    const order: string[] = [];

    server.send("back");
    client.send("there");
    await Promise.all([
      client.until(4).then(() => order.push("back")),
      server.until(5).then(() => order.push("there")),
    ]);

    expect(order).toEqual(["there", "back"]);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(59);
  });

  test("a delay is a way to go, not a limit: later bytes do not wait for earlier ones", async () => {
    const { client, server } = await wire({ toClient: { delayMs: 80 } });
    const begun = performance.now();

    for (let sent = 0; sent < 8; sent += 1) {
      server.send("x");
      await pause(5);
    }
    await client.until(8);

    expect(performance.now() - begun).toBeLessThan(8 * 80);
  });

  test("an end is as late as the bytes", async () => {
    const { client, server } = await wire({ toClient: { delayMs: 40 } });
    const begun = performance.now();

    server.socket.end();

    expect(await client.ended()).toBe("fin");
    expect(performance.now() - begun).toBeGreaterThanOrEqual(39);
  });

  test("jitter keeps the order", async () => {
    const { client, server } = await wire({ seed: 3, toClient: { jitterMs: 20 } });
    const bytes = numbered(40);

    for (const byte of bytes) {
      server.send(Buffer.of(byte));
      await pause(1);
    }

    expect((await client.until(40)).equals(bytes)).toBe(true);
  });

  test("jitter is what the seed draws for this connection and direction", async () => {
    const { client, server } = await wire({ seed: 8, toClient: { delayMs: 5, jitterMs: 40 } });
    const draw = drawsOf(8, 1, "to_client");

    for (let sent = 1; sent <= 8; sent += 1) {
      const begun = performance.now();
      server.send("x");
      await client.until(sent);
      expect(performance.now() - begun).toBeGreaterThanOrEqual(5 + 40 * draw() - 1);
    }

    expect(drawsOf(9, 1, "to_client")()).not.toBe(drawsOf(8, 1, "to_client")());
    expect(drawsOf(8, 2, "to_client")()).not.toBe(drawsOf(8, 1, "to_client")());
    expect(drawsOf(8, 1, "to_server")()).not.toBe(drawsOf(8, 1, "to_client")());
  });

  test("a stall stops at its byte for its time, once", async () => {
    const { client, server } = await wire({ toClient: { stall: { at: 3, forMs: 100 } } });
    const begun = performance.now();

    server.send("abcdef");
    await client.until(3);
    expect(client.received.toString()).toBe("abc");
    await client.until(6);

    expect(performance.now() - begun).toBeGreaterThanOrEqual(99);
    expect(client.received.toString()).toBe("abcdef");
  });

  test("a stall for ever is over when the faults are cleared", async () => {
    const { client, server, proxy } = await wire({
      toClient: { stall: { at: 3, forMs: Infinity } },
    });
    server.send("abcdef");
    await client.until(3);
    await pause(20);
    expect(client.received.toString()).toBe("abc");

    proxy.clear();

    expect((await client.until(6)).toString()).toBe("abcdef");
  });

  test("a limit of bytes a second is kept", async () => {
    const { client, server } = await wire({ toClient: { bytesPerSecond: 20_000 } });
    const bytes = numbered(4_000);
    const begun = performance.now();

    server.send(bytes);
    await client.until(2_000);
    const half = performance.now() - begun;
    await client.until(4_000);
    const all = performance.now() - begun;

    expect(client.received.equals(bytes)).toBe(true);
    expect(half).toBeGreaterThan(60);
    expect(all).toBeGreaterThan(160);
  });
});

describe("slices", () => {
  test("bytes are written n at a time", async () => {
    const { client, server, proxy } = await wire({ toClient: { slice: { bytes: 3 } } });

    server.send("0123456789");

    expect((await client.until(10)).toString()).toBe("0123456789");
    await expect
      .poll(() => proxy.connections()[0]?.toClient)
      .toMatchObject({ bytes: 10, writes: 4 });
  });

  test("a pause between slices keeps them apart for the reader", async () => {
    const { client, server } = await wire({ toClient: { slice: { bytes: 2, everyMs: 25 } } });

    server.send("abcdefg");
    await client.until(7);

    expect(client.reads.map(String)).toEqual(["ab", "cd", "ef", "g"]);
  });

  test("random slices are the same for the same seed, and others for another", async () => {
    const writes = async (seed: number): Promise<number> => {
      const { client, server, proxy } = await wire({
        seed,
        toClient: { slice: { bytes: 50, random: true } },
      });
      server.send(numbered(2_000));
      await client.until(2_000);
      await expect.poll(() => proxy.connections()[0]?.toClient.bytes).toBe(2_000);
      return proxy.connections()[0]?.toClient.writes ?? 0;
    };

    const counts = [await writes(1), await writes(1), await writes(2), await writes(5)];

    expect(counts[0]).toBe(counts[1]);
    expect(new Set(counts).size).toBeGreaterThan(1);
  });
});

describe("half-open", () => {
  test("nothing moves in either direction, and no end is forwarded", async () => {
    const { client, server, proxy } = await wire({
      toClient: { freeze: { at: 2 } },
      toServer: { freeze: { at: 0 } },
    });

    server.send("abcdef");
    client.send("lost");
    await client.until(2);
    server.socket.end();
    await pause(30);

    expect(client.received.toString()).toBe("ab");
    expect(server.received.length).toBe(0);
    expect([client.over, server.over]).toEqual([undefined, undefined]);
    expect(proxy.connections()[0]?.open).toBe(true);
  });

  test("a reset of one end is not forwarded to the other", async () => {
    const { client, server } = await wire({ toClient: { freeze: { at: 0 } } });
    client.send("x");
    await server.until(1);

    server.socket.resetAndDestroy();
    await pause(30);

    expect(client.over).toBeUndefined();
  });

  test("all goes on where it was when the fault is taken away", async () => {
    const { client, server, proxy } = await wire();
    proxy.set("both", { freeze: { at: 0 } });
    server.send("abcdef");
    client.socket.end("bye");
    await pause(20);
    expect([client.received.length, server.received.length]).toEqual([0, 0]);

    proxy.clear();

    expect(await server.ended()).toBe("fin");
    expect(server.received.toString()).toBe("bye");
    expect((await client.until(6)).toString()).toBe("abcdef");
  });
});

describe("buffer", () => {
  test("holds bytes until there are enough, and then again", async () => {
    const { client, server, proxy } = await wire({ toClient: { buffer: { bytes: 8 } } });

    server.send("12345");
    await expect.poll(() => proxy.connections()[0]?.toClient.held).toBe(5);
    expect(client.received.length).toBe(0);
    server.send("678");
    expect((await client.until(8)).toString()).toBe("12345678");
    server.send("9");
    await expect.poll(() => proxy.connections()[0]?.toClient.held).toBe(1);

    expect(client.received.toString()).toBe("12345678");
  });

  test("lets go what it holds on a flush", async () => {
    const { client, server, proxy } = await wire({ toClient: { buffer: { bytes: Infinity } } });
    server.send("held");
    await expect.poll(() => proxy.connections()[0]?.toClient.held).toBe(4);

    proxy.flush("to_client");

    expect((await client.until(4)).toString()).toBe("held");
    server.send("again");
    await expect.poll(() => proxy.connections()[0]?.toClient.held).toBe(5);
  });

  test("is not opened by a flush of the faults before it", async () => {
    const { client, server, proxy } = await wire({
      toClient: { stall: { at: 0, forMs: Infinity } },
    });
    server.send("held");
    await expect.poll(() => proxy.connections()[0]?.toClient.held).toBe(4);

    proxy.flush();
    proxy.set("to_client", { buffer: { bytes: 5 } });
    await pause(20);

    expect(client.received.length).toBe(0);
    server.send("!");
    expect((await client.until(5)).toString()).toBe("held!");
  });

  test("lets go what it holds when the source ends", async () => {
    const { client, server } = await wire({ toClient: { buffer: { bytes: 1_000 } } });

    server.socket.end("all there is");

    expect(await client.ended()).toBe("fin");
    expect(client.received.toString()).toBe("all there is");
  });

  test("holds more than the proxy would hold by itself", async () => {
    const { client, server } = await wire({ toClient: { buffer: { bytes: 1_000_000 } } });
    const bytes = numbered(1_000_000);

    server.send(bytes);

    expect((await client.until(bytes.length)).equals(bytes)).toBe(true);
  });
});
