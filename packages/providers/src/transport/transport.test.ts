import { gzipSync } from "node:zlib";
import { manualClock } from "@millrace/core/testing";
import { expect, test } from "vitest";
import type { ProviderOptions } from "../provider.ts";
import { startFaultProxy } from "../serve/fault-proxy.ts";
import type { HttpReply, VendorReply } from "../serve/vendor-reply.ts";
import { startVendorServer } from "../serve/vendor-server.ts";
import { ask, hello, toyModel } from "../testing/toy-model.ts";
import type { Answer } from "../testing/toy-model.ts";

/** Sends one request to a server with this reply. */
async function askOnce(reply: VendorReply, options: ProviderOptions = {}): Promise<Answer> {
  await using server = await startVendorServer({ replies: [reply] });
  return await ask(toyModel(server.url, { retry: false, ...options }));
}

const half = 'data: {"say":"Hel"}\n\ndata: {"sa';
const json = { "content-type": "application/json" };

test.each<readonly [string, VendorReply, string, string]>([
  ["S01: an empty body", { body: "" }, "truncated", "truncated"],
  ["S27: a body in UTF-16", { body: Buffer.from(hello, "utf16le") }, "failed", "bad_encoding"],
  [
    "S33: a page of a portal",
    { body: "<html>Sign in</html>", headers: { "content-type": "text/html" } },
    "failed",
    "unexpected_content_type",
  ],
  [
    "S33: … also without its type",
    { body: "<html>Sign in</html>", headers: { "content-type": "text/plain" } },
    "failed",
    "unexpected_content_type",
  ],
  [
    "S34: a whole answer in JSON",
    { body: '{"say":"Hello"}', headers: json },
    "failed",
    "not_a_stream",
  ],
  [
    "S35: an error without its field name",
    { body: '{"error":{"message":"no credit","code":"insufficient_quota"}}' },
    "failed",
    "quota_exceeded",
  ],
  [
    "S35: … and one of no known name",
    { body: '{"error":{"message":"it broke"}}' },
    "failed",
    "provider_error",
  ],
  [
    "N08: a JSON array instead of a stream",
    { body: '[{"say":"Hello"}]', headers: json },
    "failed",
    "not_a_stream",
  ],
  [
    "S36: a chain of encodings",
    {
      body: hello,
      headers: { "content-encoding": Array.from({ length: 1_000 }, () => "gzip").join(", ") },
    },
    "failed",
    "bad_encoding",
  ],
  [
    "S36: an unknown encoding",
    { body: hello, headers: { "content-encoding": "br" } },
    "failed",
    "bad_encoding",
  ],
  [
    "S38: gzip that is cut",
    { body: gzipSync(hello).subarray(0, -12), headers: { "content-encoding": "gzip" } },
    "truncated",
    "truncated_transport",
  ],
  [
    "S39: chunks without a last one",
    { body: half, end: "half_chunk" },
    "truncated",
    "truncated_transport",
  ],
  [
    "S40: a body that is shorter than it says",
    { body: half, end: "short" },
    "truncated",
    "truncated_transport",
  ],
  ["S41: an end inside an event", { body: half, end: "fin" }, "truncated", "truncated"],
  ["S42: a reset inside an event", { body: half, end: "reset" }, "failed", "connection_reset"],
  ["S49: only the sentinel", { body: "data: [DONE]\n\n" }, "truncated", "truncated"],
  [
    "S52: two documents in one event",
    { body: 'data: {"say":"a"}\ndata: {"error":"b"}\n\n' },
    "failed",
    "bad_json",
  ],
  [
    "S53: a redirect",
    { status: 302, headers: { location: "http://127.0.0.1:9/" }, body: "" },
    "failed",
    "redirect_refused",
  ],
  [
    "S54: 400",
    { status: 400, body: '{"error":{"message":"no such field","type":"invalid_request_error"}}' },
    "failed",
    "bad_request",
  ],
  [
    "S54: 400 for a transcript that is too long",
    {
      status: 400,
      body: '{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum","type":"invalid_request_error"}}',
    },
    "failed",
    "context_overflow",
  ],
  ["S54: 401", { status: 401, body: '{"error":{"message":"bad key"}}' }, "failed", "unauthorized"],
  ["S54: 403", { status: 403, body: "" }, "failed", "forbidden"],
  ["S54: 404", { status: 404, body: "not here" }, "failed", "not_found"],
  ["S54: 413", { status: 413, body: "" }, "failed", "request_too_large"],
  ["S54: 422", { status: 422, body: "{}" }, "failed", "bad_request"],
  [
    "S54: 429 for good",
    { status: 429, body: '{"error":{"message":"no credit","code":"insufficient_quota"}}' },
    "failed",
    "quota_exceeded",
  ],
  [
    "S56: 500 with a page",
    { status: 500, headers: { "content-type": "text/html" }, body: "<html>Oops</html>" },
    "failed",
    "server_error",
  ],
  ["S56: 502", { status: 502, body: "" }, "failed", "server_error"],
  ["S56: 503", { status: 503, body: "" }, "failed", "overloaded"],
  [
    "S56: 529",
    {
      status: 529,
      body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    },
    "failed",
    "overloaded",
  ],
  [
    "an answer that is no HTTP",
    { raw: "SSH-2.0-OpenSSH_9.6\r\n", end: "fin" },
    "failed",
    "protocol",
  ],
  [
    "an error in the stream",
    { body: 'data: {"say":"Hel"}\n\ndata: {"error":"overloaded_error"}\n\n' },
    "failed",
    "overloaded",
  ],
])("%s ends as it must", async (_, reply, stop, code) => {
  const { reply: ended } = await askOnce(reply);
  expect([ended.stop, ended.cause?.code]).toEqual([stop, code]);
});

test("what came before a cut is kept", async () => {
  const { reply } = await askOnce({ body: half, end: "reset" });
  expect(reply.parts).toEqual([{ kind: "text", id: "p1", text: "Hel" }]);
});

test("S36: one layer of gzip is undone", async () => {
  const body = gzipSync(hello);
  const { reply } = await askOnce({
    body,
    headers: { "content-encoding": "gzip" },
    chunks: "byte",
  });
  expect(reply).toMatchObject({ stop: "end", parts: [{ text: "Hello" }] });
});

test("S37: a gzip bomb is given up at 64 MiB", async () => {
  const body = gzipSync(Buffer.alloc(80 * 1024 * 1024, "data: \n"));
  const { reply } = await askOnce({ body, headers: { "content-encoding": "gzip" } });
  expect(["body_too_large", "event_too_large"]).toContain(reply.cause?.code);
});

test("S29: a line without an end is given up at 4 MiB", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const { reply } = await askOnce({ body: "data: ".padEnd(64 * 1024, "x"), repeat: 1_024 });
  expect(reply).toMatchObject({ stop: "failed", cause: { code: "event_too_large" } });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80 * 1024 * 1024);
});

test("S47: a reply ends with its last event, though the socket stays open", async () => {
  await using server = await startVendorServer({ replies: [{ body: hello, end: "stay_open" }] });
  const { reply } = await ask(toyModel(server.url));
  expect(reply.stop).toBe("end");
  expect((await server.requests[0]?.ended)?.by).toBe("client");
});

test("S48: junk after the last event is nothing", async () => {
  const { reply } = await askOnce({ body: `${hello}data: {{{\n\ndata: {"say":"more"}\n\n` });
  expect(reply).toMatchObject({ stop: "end", parts: [{ text: "Hello" }] });
});

test("S57, S58: a stream that a user's fetch breaks off is a reset", async () => {
  const broken: typeof fetch = () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(half)),
      pull: (controller) => controller.error(new Error("ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR")),
    });
    return Promise.resolve(
      new Response(body, { headers: { "content-type": "text/event-stream" } }),
    );
  };
  const { reply } = await ask(toyModel("http://127.0.0.1:9", { fetch: broken, retry: false }));
  expect(reply).toMatchObject({ stop: "failed", cause: { code: "connection_reset" } });
});

test("a port without a server refuses", async () => {
  const { reply } = await ask(toyModel("http://127.0.0.1:9", { retry: false }));
  expect(reply).toMatchObject({
    stop: "failed",
    cause: { code: "connection_refused", retryable: true },
  });
});

test("keys never stand in a cause", async () => {
  const body = '{"error":{"message":"Incorrect key sk-proj-abcdefgh1jklmnop provided"}}';
  const { reply } = await askOnce({ status: 401, body });
  expect(JSON.stringify(reply)).not.toContain("abcdefgh1jklmnop");
  expect(reply.cause?.message).toContain("[redacted]");
});

test("bad events are skipped and reported, if that is set", async () => {
  const body = `data: {{\n\n${hello}`;
  const { reply, notices } = await askOnce({ body }, { badEvents: "skip" });
  expect(reply).toMatchObject({ stop: "end", parts: [{ text: "Hello" }] });
  expect(notices).toMatchObject([{ type: "remark", code: "bad_event" }]);
});

test("S10: unknown events are reported and change nothing", async () => {
  const { reply, notices } = await askOnce({ body: `data: {"new":1}\n\n${hello}` });
  expect(reply).toMatchObject({ stop: "end", parts: [{ text: "Hello" }] });
  expect(notices).toMatchObject([{ type: "remark", code: "unknown_event" }]);
});

test("S23: text that was no UTF-8 is reported", async () => {
  const body = Buffer.concat([
    Buffer.from('data: {"say":"'),
    Buffer.from([0xc3, 0x28]),
    Buffer.from('"}\n\n'),
    Buffer.from(hello),
  ]);
  const { reply, notices } = await askOnce({ body });
  expect(reply).toMatchObject({ stop: "end", parts: [{ text: "\uFFFD(Hello" }] });
  expect(notices).toMatchObject([{ type: "remark", code: "lossy_text" }]);
});

const clocks = {
  connectMs: 1_000,
  firstByteMs: 2_000,
  idleMs: 3_000,
  stallNoticeMs: 1_500,
  stallMs: 4_000,
  requestMs: 60_000,
};

/** Sends a request over a real socket, with the clock advanced in small steps. */
async function askInTime(reply: HttpReply, ms: number, timeouts = clocks): Promise<Answer> {
  await using server = await startVendorServer({ replies: [reply] });
  const clock = manualClock();
  const answer = ask(toyModel(server.url, { retry: false, timeouts, clock }));
  const progress = { over: false };
  void answer.then(() => (progress.over = true));
  for (let passed = 0; passed < ms && !progress.over; passed += 250) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(250);
  }
  return await answer;
}

const ping = "event: ping\ndata: {}\n\n";

test.each<readonly [string, HttpReply, string]>([
  [
    "S43: an answer that never begins",
    { body: hello, headersDelayMs: Infinity },
    "first_byte_timeout",
  ],
  ["S44: headers, then silence", { body: "", end: "stay_open" }, "idle_timeout"],
  ["S45: comments for ever", { body: ": alive\n\n", repeat: Infinity, delayMs: 5 }, "stalled"],
  ["A21, S45: pings for ever", { body: ping, repeat: Infinity, delayMs: 5 }, "stalled"],
  [
    "S46: one event that never ends",
    { body: "data: 1\n", repeat: Infinity, delayMs: 5 },
    "event_timeout",
  ],
  [
    "S31: a byte now and then, and never an event",
    { body: "d", repeat: Infinity, delayMs: 5 },
    "event_timeout",
  ],
])("%s is ended by a clock", async (_, reply, code) => {
  const { reply: ended } = await askInTime(reply, 20_000);
  expect([ended.stop, ended.cause?.code]).toEqual(["failed", code]);
});

test("a request that goes on for too long is ended, whatever comes", async () => {
  const busy: HttpReply = { body: 'data: {"say":"a"}\n\n', repeat: Infinity, delayMs: 5 };
  const { reply } = await askInTime(busy, 20_000, { ...clocks, requestMs: 5_000 });
  expect(reply).toMatchObject({
    stop: "failed",
    cause: { code: "request_timeout", retryable: false },
  });
});

test("D43: a stall is reported once, and then it is an ending", async () => {
  const { reply, notices } = await askInTime({ body: ping, repeat: Infinity, delayMs: 5 }, 20_000);
  expect(notices).toEqual([{ type: "stalled", silentMs: 1_500 }]);
  expect(reply.cause?.code).toBe("stalled");
});

test("S32: a flood of comments is no progress, and costs little", async () => {
  const flood: HttpReply = { body: ": x\n\n".repeat(20_000), repeat: Infinity, delayMs: 10 };
  const before = process.cpuUsage();
  const { reply } = await askInTime(flood, 20_000);
  const { user } = process.cpuUsage(before);
  expect(reply.cause?.code).toBe("stalled");
  expect(user).toBeLessThan(5_000_000);
});

test("a connection that is never made ends by its own clock", async () => {
  await using server = await startVendorServer({ replies: [{ body: hello }] });
  const clock = manualClock();
  // The address neither accepts nor refuses a connection.
  const model = toyModel(
    server.url,
    { retry: false, timeouts: clocks, clock },
    { send: () => undefined },
  );
  const answer = ask(model);
  await clock.advance(1_000);
  expect((await answer).reply).toMatchObject({ cause: { code: "connect_timeout" } });
});

test("a half-open connection is given up by the idle clock", async () => {
  await using server = await startVendorServer({
    replies: [{ body: hello, chunks: "event", delayMs: 20 }],
  });
  await using proxy = await startFaultProxy({
    target: { host: server.host, port: server.port },
    toClient: { freeze: { at: 150 } },
  });
  const model = toyModel(`http://127.0.0.1:${proxy.port}`, {
    retry: false,
    timeouts: { idleMs: 150 },
  });
  const { reply } = await ask(model);
  expect(reply).toMatchObject({ stop: "failed", cause: { code: "idle_timeout" } });
});
