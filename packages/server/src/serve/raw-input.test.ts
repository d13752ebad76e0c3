/** What only a socket can send: rows of bad input that need bytes of one's own. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { MillraceOptions } from "./millrace.ts";
import { httpProgram } from "../testing/http-program.ts";
import type { HttpProgram } from "../testing/http-program.ts";

interface Served extends HttpProgram {
  readonly open: () => Promise<Talk>;
}

/** One connection: what was sent so far by the server, and what is sent to it. */
interface Talk {
  readonly socket: Socket;
  readonly said: () => string;
  readonly until: (pattern: RegExp) => Promise<string>;
}

async function serve(options: Partial<MillraceOptions> = {}): Promise<Served> {
  const program = httpProgram(options);
  await program.storeOf("acme").create({ sessionId: "plan", owner: "ann" });
  const server = createServer(program.millrace.node).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    server.close().closeAllConnections();
    await program.millrace[Symbol.asyncDispose]();
  });
  const open = async (): Promise<Talk> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    let text = "";
    socket.on("data", (bytes) => (text += String(bytes)));
    await once(socket, "connect");
    onTestFinished(() => void socket.destroy());
    const until = async (pattern: RegExp): Promise<string> => {
      for (let n = 0; n < 500 && !pattern.test(text); n += 1) await sleep(10);
      expect(text).toMatch(pattern);
      return text;
    };
    return { socket, said: () => text, until };
  };
  return { ...program, open };
}

/** The head of a request as the owner. */
function head(line: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { host: "app.example", authorization: "Bearer owner", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${[`${line} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`;
}

const json = { "content-type": "application/json", "idempotency-key": "0123456789abcdef" };

test("a body that trickles is answered 408 when its time is over, and its key stays free (H13)", async () => {
  const { open, ask } = await serve({ limits: { bodyMs: 400 } });
  const { socket, until } = await open();
  socket.write(head("POST /v1/sessions", { ...json, "content-length": "13" }));
  for (const letter of '{"id":') {
    socket.write(letter);
    await sleep(20);
  }
  const said = await until(/request_timeout/);
  expect(said).toMatch(/^HTTP\/1\.1 408 /);
  const again = await ask("/v1/sessions", "owner", { method: "POST", headers: json, body: "{}" });
  expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, null]);
});

test("a blob that trickles is answered 408, and nothing of it is kept (H13)", async () => {
  const { open, ask } = await serve({ limits: { blobMs: 300 } });
  const { socket, until } = await open();
  const type = { "content-type": "image/png", "content-length": "9" };
  socket.write(head("POST /v1/sessions/plan/blobs", type));
  socket.write("half");
  expect(await until(/request_timeout/)).toMatch(/^HTTP\/1\.1 408 /);
  const hash = createHash("sha256").update("half").digest("hex");
  const kept = await ask(`/v1/sessions/plan/blobs/sha256-${hash}`, "owner");
  expect(kept.status).toBe(404);
});

test("a length that is announced above the limit is refused before a byte of it came (H12)", async () => {
  const { open } = await serve();
  const { socket, until } = await open();
  const length = `${10 * 1_024 * 1_024 + 1}`;
  socket.write(head("POST /v1/sessions", { ...json, "content-length": length }));
  const said = await until(/"limit":10485760/);
  expect(said).toMatch(/^HTTP\/1\.1 413 /);
});

test("a body without a length is counted as it comes (H12)", async () => {
  const { open } = await serve({ limits: { bodyBytes: 100 } });
  const { socket, until } = await open();
  socket.write(head("POST /v1/sessions", { ...json, "transfer-encoding": "chunked" }));
  socket.write(`40\r\n{"title":"${"x".repeat(54)}\r\n`);
  socket.write(`40\r\n${"x".repeat(64)}\r\n`);
  expect(await until(/too_large/)).toMatch(/^HTTP\/1\.1 413 /);
});

test.each([
  ["is announced", { "content-length": `${12 * 1_024 * 1_024}` }],
  ["comes in chunks", { "transfer-encoding": "chunked" }],
])(
  "a caller that sends all of a body before it reads gets the refusal of one that is too large, and %s (H12)",
  async (_, framing) => {
    const { open } = await serve();
    const { socket, until } = await open();
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.once("close", () => resolve());
    socket.pause();
    socket.write(head("POST /v1/sessions", { ...json, ...framing }));
    const piece = Buffer.alloc(1_024 * 1_024, " ");
    const isChunked = "transfer-encoding" in framing;
    for (let sent = 0; sent < 12; sent += 1) {
      if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`);
      if (!socket.write(piece) && !socket.destroyed)
        await Promise.race([new Promise((drained) => socket.once("drain", drained)), closed]);
      if (isChunked) socket.write("\r\n");
    }
    if (isChunked) socket.write("0\r\n\r\n");
    socket.resume();

    expect(await until(/too_large/)).toMatch(/^HTTP\/1\.1 413 /);
    await closed;
  },
);

test("a caller that goes on sending what is refused is cut off (H12)", async () => {
  const { open } = await serve();
  const { socket, until } = await open();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.once("close", () => resolve());
  const length = { "content-length": `${1_024 ** 4}` };
  socket.write(head("POST /v1/sessions", { ...json, ...length }));
  await until(/too_large/);
  const piece = Buffer.alloc(1_024 * 1_024, " ");
  let sent = 0;
  while (!socket.destroyed && sent < 200) {
    sent += 1;
    if (socket.write(piece)) continue;
    await Promise.race([new Promise((drained) => socket.once("drain", drained)), closed]);
  }

  expect(sent).toBeLessThan(100);
});

test.each([
  ["a length and chunks", { "content-length": "2", "transfer-encoding": "chunked" }],
  ["two transfer codings", { "transfer-encoding": "chunked, identity" }],
  ["lengths that are no numbers", { "content-length": "2x" }],
])("%s are refused, and the connection is closed (H14)", async (_, framing) => {
  const { open, storeOf } = await serve();
  const { socket, until } = await open();
  const closed = once(socket, "close");
  socket.write(`${head("POST /v1/sessions", { ...json, ...framing })}0\r\n\r\n`);
  expect(await until(/HTTP/)).toMatch(/^HTTP\/1\.1 400 /);
  await closed;
  expect((await storeOf("acme").page({ owner: "ann" })).records).toHaveLength(1);
});

test("requests that are sent at once are answered one after the other (H28)", async () => {
  const { open } = await serve();
  const { socket, until } = await open();
  const missing = head("GET /v1/sessions/none");
  socket.write(`${head("GET /v1/sessions/plan")}${missing}${head("GET /v1/health")}`);
  const said = await until(/(?:HTTP\/1\.1 [\s\S]*){3}/);
  const statuses = [...said.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
  expect(statuses).toEqual(["200", "404", "200"]);
});

test("a caller that waits to be asked for its body is asked, and gets its answer (H28)", async () => {
  const { open } = await serve();
  const { socket, until } = await open();
  const length = { "content-length": "2", expect: "100-continue" };
  socket.write(head("POST /v1/sessions", { ...json, ...length }));
  await until(/^HTTP\/1\.1 100 /);
  socket.write("{}");
  await until(/HTTP\/1\.1 201 /);
});

test("a caller that leaves in the middle of its body leaves nothing behind (H28)", async () => {
  const { open, ask } = await serve();
  for (let n = 0; n < 20; n += 1) {
    const { socket } = await open();
    socket.write(`${head("POST /v1/sessions", { ...json, "content-length": "99" })}{"id":"left`);
    await sleep(2);
    socket.destroy();
  }
  await sleep(50);
  const listed = (await (await ask("/v1/sessions", "owner")).json()) as { sessions: unknown[] };
  expect(listed.sessions).toHaveLength(1);
  const again = await ask("/v1/sessions", "owner", { method: "POST", headers: json, body: "{}" });
  expect(again.status).toBe(201);
});

test("a line break in a header's value or in the path ends the request, never adds a header (H09, H16)", async () => {
  const { open } = await serve();
  const { socket, until } = await open();
  socket.write(head("GET /v1/sessions/plan", { "last-event-id": "1\rset-cookie: a=b" }));
  const said = await until(/HTTP/);
  expect(said).toMatch(/^HTTP\/1\.1 400 /);
  expect(said).not.toMatch(/set-cookie/i);
});
