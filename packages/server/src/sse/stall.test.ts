import { once } from "node:events";
import { connect as connectHttp2, createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { createServer } from "node:http";
import { connect } from "node:net";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { expect, test } from "vitest";
import { BatchProducer } from "../testing/batch-producer.ts";
import { until } from "../testing/hub-server.ts";
import { laneText } from "../testing/lane-text.ts";
import { listen } from "../testing/loopback.ts";
import { StreamReader } from "../testing/stream-reader.ts";
import { createHub } from "../hub/hub.ts";
import type { DeliveredEnd } from "../hub/options.ts";
import { sseSink } from "./sse-sink.ts";

/** More than the kernel buffers for a connection that is not read. */
const length = 12_000_000;

test("a connection that takes no byte is closed after the time of a stall, and one that reads stays", async () => {
  const store = memorySessionStore();
  const log = memoryEventLog();
  const producer = await BatchProducer.open(store, log, { length });
  using hub = createHub({ store, log });
  const ends = new Map<string, DeliveredEnd>();
  const server = createServer((request, response) => {
    const sink = sseSink(response, { stallMs: 300 });
    void hub.deliver(producer, sink).then((end) => ends.set(request.url ?? "", end));
  });
  const port = await listen(server);
  const open = (path: string) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    return socket;
  };
  const stalled = open("/stalled");
  stalled.pause();
  stalled.on("error", () => undefined);
  let got = 0;
  const reading = open("/reading").on("data", (bytes) => {
    got += bytes.length;
  });
  await until(() => got > length, "all of it");
  await until(() => ends.has("/stalled"), "the end of the stalled one");
  await new Promise((wake) => setTimeout(wake, 400));

  expect(ends.get("/stalled")).toEqual({});
  expect([ends.has("/reading"), hub.streams()]).toEqual([false, 1]);
  reading.destroy();
  stalled.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

test("a connection that was ended and is not read is closed too", async () => {
  const store = memorySessionStore();
  const log = memoryEventLog();
  const producer = await BatchProducer.open(store, log, { length });
  using hub = createHub({ store, log });
  const control = new AbortController();
  const closed = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    response.socket?.once("close", closed.resolve);
    const { uid, sessionId } = producer;
    const sink = sseSink(response, { stallMs: 200 });
    void hub.deliver({ uid, sessionId, signal: control.signal }, sink);
  });
  const port = await listen(server);
  const socket = connect({ port, host: "127.0.0.1" });
  socket.pause();
  socket.on("error", () => undefined);
  socket.write("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
  await until(() => hub.streams() === 1, "the stream");
  await new Promise((wake) => setTimeout(wake, 50));
  control.abort("revoked");
  await closed.promise;

  expect(hub.streams()).toBe(0);
  socket.destroy();
  server.close();
});

test("a response of HTTP/2 is a sink, and its end is told", async () => {
  const store = memorySessionStore();
  const log = memoryEventLog();
  const producer = await BatchProducer.open(store, log, { length: 500_000 });
  using hub = createHub({ store, log });
  const control = new AbortController();
  const server = createHttp2((_, response) => {
    const { uid, sessionId } = producer;
    void hub.deliver({ uid, sessionId, signal: control.signal }, sseSink(response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  const client = connectHttp2(`http://127.0.0.1:${port}`);
  const request = client.request({ ":path": "/" });
  const reader = new StreamReader();
  let type: unknown;
  request.on("response", (headers) => {
    type = headers["content-type"];
  });
  request.setEncoding("utf8");
  request.on("data", (text: string) => reader.feed(text));
  await until(() => reader.state !== undefined, "the snapshot");
  await producer.append("over HTTP/2");
  await until(() => reader.state !== undefined && laneText(reader.state) === "over HTTP/2", "text");
  control.abort("expired");
  await once(request, "end");

  expect(type).toBe("text/event-stream; charset=utf-8");
  expect(reader.reason).toBe("expired");
  client.close();
  server.close();
});
