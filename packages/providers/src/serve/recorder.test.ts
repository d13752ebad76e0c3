import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connectTcp } from "../testing/tcp-peer.ts";
import { startRecorder } from "./recorder.ts";
import type { Recorder, RecorderOptions } from "./recorder.ts";
import { replayRecording } from "./recording.ts";
import type { Recording } from "./recording.ts";
import type { VendorReply } from "./vendor-reply.ts";
import { startVendorServer } from "./vendor-server.ts";
import type { VendorServer } from "./vendor-server.ts";

let folder = "";
const opened: { readonly close: () => Promise<void> }[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "recorder-"));
});

afterEach(async () => {
  for (const resource of opened.splice(0).toReversed()) await resource.close();
  await rm(folder, { recursive: true });
});

interface Setup {
  readonly vendor: VendorServer;
  readonly recorder: Recorder;
}

async function setUp(
  replies: readonly VendorReply[],
  options: Partial<RecorderOptions> = {},
): Promise<Setup> {
  const vendor = await startVendorServer({ replies });
  opened.push(vendor);
  const recorder = await startRecorder({
    target: vendor.url,
    folder,
    protocol: "openai-chat",
    ...options,
  });
  opened.push(recorder);
  return { vendor, recorder };
}

const key = "sk-live-0123456789abcdef";
const shapeless = "another key";

async function ask(recorder: Recorder, path = "/v1/chat/completions"): Promise<Response> {
  return await fetch(`${recorder.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "x-api-key": shapeless,
      cookie: "who=me-and-my-cookie",
      "content-type": "application/json",
    },
    body: JSON.stringify({ model: "m", stream: true, note: `${key} and ${shapeless}` }),
  });
}

async function read(name: string): Promise<Recording> {
  return JSON.parse(await readFile(join(folder, `${name}.json`), "utf8")) as Recording;
}

async function everything(): Promise<string> {
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "latin1")));
  return texts.join("\n");
}

const events = 'data: {"text":"Zürich 🚀"}\n\ndata: {"text":"two"}\n\ndata: [DONE]\n\n';

test("the client gets and the file holds what the vendor sent, byte for byte", async () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) & 0xff);
  const { recorder } = await setUp([{ body: bytes, chunks: { seed: 4, largest: 9_000 } }]);

  const got = new Uint8Array(await (await ask(recorder)).arrayBuffer());
  await recorder.saved();

  expect(Buffer.from(got).equals(bytes)).toBe(true);
  expect((await readFile(join(folder, "recording-1.sse"))).equals(bytes)).toBe(true);
  expect(recorder.recordings).toEqual([{ kind: "saved", name: "recording-1" }]);
});

test("the vendor gets the request as it was, keys and all", async () => {
  const { vendor, recorder } = await setUp([{ body: events }]);

  await (await ask(recorder, "/v1/chat?key=query-secret")).text();

  expect(vendor.requests[0]).toMatchObject({
    method: "POST",
    path: "/v1/chat?key=query-secret",
    headers: {
      authorization: `Bearer ${key}`,
      host: `127.0.0.1:${vendor.port}`,
      "accept-encoding": "identity",
    },
    json: { model: "m", stream: true, note: `${key} and ${shapeless}` },
  });
});

test("no key stands anywhere in the files, wherever it was sent", async () => {
  const id = "req_011CSHoEeqs5C35K2UUqR7Fy";
  const { recorder } = await setUp([
    {
      headers: {
        "request-id": id,
        "cf-ray": "8f0a1b2c3d-ZRH",
        "set-cookie": "cf=vendor-cookie-1; path=/",
      },
      body: `data: {"echo":"${key}","id":"${id}","other":"gsk_abcdefghij0123456789","ray":"8f0a1b2c3d-ZRH"}\n\n`,
    },
  ]);

  const got = await (await ask(recorder, "/v1/x?key=query-secret&alt=sse")).text();
  await recorder.saved();

  expect(got).toContain(key);
  const written = await everything();
  for (const secret of [
    key,
    shapeless,
    "my-cookie",
    "query-secret",
    "vendor-cookie",
    id,
    "gsk_",
    "8f0a1b2c3d",
    "authorization",
    "x-api-key",
    "set-cookie",
  ]) {
    expect(written).not.toContain(secret);
  }
  expect(await read("recording-1")).toMatchObject({
    format: 1,
    protocol: "openai-chat",
    request: {
      method: "POST",
      path: "/v1/x?alt=sse",
      headers: { "content-type": ["application/json"] },
      body: { model: "m", stream: true, note: "REDACTEDREDACTEDREDACTED and REDACTEDRED" },
    },
    response: {
      status: 200,
      end: "whole",
      redacted: true,
      headers: { "request-id": ["req_000000000000000000000001"] },
    },
  });
  expect(written).toContain('"id":"req_000000000000000000000001"');
  expect((await readFile(join(folder, "recording-1.sse"))).length).toBe(Buffer.from(got).length);
});

test("what the caller calls secret is taken out too", async () => {
  const { recorder } = await setUp([{ body: "data: Project Bluebird, user 4711\n\n" }], {
    redact: ["Bluebird", /user \d+/],
  });

  await (await ask(recorder)).text();
  await recorder.saved();

  expect(await everything()).not.toMatch(/Bluebird|4711/);
});

test("a replay has the same bytes in the same pieces at the same times", async () => {
  const { recorder } = await setUp([
    {
      status: 201,
      headers: { "x-kept": "1" },
      body: events,
      chunks: "event",
      delayMs: [0, 40, 40],
    },
  ]);
  await (await ask(recorder)).text();
  await recorder.saved();
  const { pieces } = await read("recording-1");
  expect(pieces.map(([offset]) => offset)).toEqual([0, 31, 53]);

  const reply = await replayRecording(folder, "recording-1");
  const again = await setUp([reply], { name: () => "again" });
  const response = await ask(again.recorder);
  const text = await response.text();
  await again.recorder.saved();

  expect([response.status, response.headers.get("x-kept"), text]).toEqual([201, "1", events]);
  const replayed = await read("again");
  expect(replayed.pieces.map(([offset]) => offset)).toEqual([0, 31, 53]);
  const total = (list: Recording["pieces"]): number => (list[2]?.[1] ?? 0) - (list[0]?.[1] ?? 0);
  expect(total(pieces)).toBeGreaterThanOrEqual(78);
  expect(total(replayed.pieces)).toBeGreaterThanOrEqual(total(pieces) - 4);
});

test("a replay can be without its waits", async () => {
  const { recorder } = await setUp([{ body: events, chunks: "event", delayMs: 15 }]);
  await (await ask(recorder)).text();
  await recorder.saved();

  const reply = await replayRecording(folder, "recording-1", { speed: Infinity });

  expect(reply).toMatchObject({ headersDelayMs: 0, delayMs: [0, 0, 0], end: "whole" });
});

test.each([
  ["half_chunk", "half_chunk"],
  ["short", "short"],
  ["reset", "half_chunk"],
] as const)(
  "a body that ends by %s is cut for the client and in the replay",
  async (end, replayed) => {
    const { recorder } = await setUp([{ body: events, end }]);

    const text = ask(recorder).then((response) => response.text());

    await expect(text).rejects.toThrow();
    await recorder.saved();
    expect((await read("recording-1")).response.end).toBe("cut");
    expect(await readFile(join(folder, "recording-1.sse"), "utf8")).toBe(events);
    expect((await replayRecording(folder, "recording-1")).end).toBe(replayed);
  },
);

test("a client that disconnects ends the vendor's request, and what came so far is kept", async () => {
  const { vendor, recorder } = await setUp([{ body: events, end: "stay_open" }]);
  const client = await connectTcp(Number(new URL(recorder.url).port));
  client.send("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await expect.poll(() => client.received.toString()).toContain("[DONE]");

  client.socket.destroy();

  expect(await vendor.requests[0]?.ended).toMatchObject({ by: "client" });
  await recorder.saved();
  expect((await read("recording-1")).response.end).toBe("left");
  expect((await replayRecording(folder, "recording-1")).end).toBe("stay_open");
});

test("errors of the vendor are recorded like replies", async () => {
  const { recorder } = await setUp([{ status: 429, headers: { "retry-after": "3" }, body: "{}" }]);

  const response = await ask(recorder);
  await response.text();
  await recorder.saved();

  expect(response.status).toBe(429);
  expect((await read("recording-1")).response).toMatchObject({
    status: 429,
    headers: { "retry-after": ["3"] },
  });
});

test("a vendor that can't be reached is a 502 and no recording", async () => {
  const { vendor, recorder } = await setUp([]);
  await vendor.close();

  const response = await ask(recorder);

  expect(response.status).toBe(502);
  await recorder.saved();
  expect(JSON.stringify(recorder.recordings)).toMatch(/"failed".*ECONNREFUSED/);
  expect(await readdir(folder)).toEqual([]);
});

test("an encoded body is passed on and not kept, since its keys can't be seen", async () => {
  const body = gzipSync(events);
  const { recorder } = await setUp([{ body, headers: { "content-encoding": "gzip" } }]);

  expect(await (await ask(recorder)).text()).toBe(events);

  await recorder.saved();
  expect(recorder.recordings).toEqual([
    { kind: "failed", name: "recording-1", problem: "the body is encoded as gzip" },
  ]);
  expect(await readdir(folder)).toEqual([]);
});

test("files that are there stay as they are", async () => {
  const { recorder } = await setUp([{ body: "first" }, { body: "second" }], { name: () => "same" });

  await (await ask(recorder)).text();
  await recorder.saved();
  await (await ask(recorder)).text();
  await recorder.saved();

  expect(recorder.recordings.map(({ name }) => name)).toEqual(["same", "same-2"]);
  expect(await readFile(join(folder, "same.sse"), "utf8")).toBe("first");
  expect(await readFile(join(folder, "same-2.sse"), "utf8")).toBe("second");
});

test("a name that leads out of the folder is refused", async () => {
  const { vendor, recorder } = await setUp([{ body: events }], { name: () => "../out" });

  expect((await ask(recorder)).status).toBe(502);
  expect(vendor.requests).toEqual([]);
});

test("a path of the target goes before that of the request", async () => {
  const vendor = await startVendorServer({ replies: [{ body: events }] });
  opened.push(vendor);
  const target = `${vendor.url}/api/`;
  const recorder = await startRecorder({ target, folder, protocol: "openai-chat" });
  opened.push(recorder);

  await (await ask(recorder, "/v1/chat")).text();

  expect(vendor.requests[0]?.path).toBe("/api/v1/chat");
});

test("the command records until it is stopped", async () => {
  const vendor = await startVendorServer({ replies: [{ body: events }] });
  opened.push(vendor);
  const script = fileURLToPath(new URL("record.ts", import.meta.url));
  const where = ["--target", vendor.url, "--out", folder];
  const what = ["--protocol", "openai-chat", "--name", "cli"];
  const sources = "--conditions=@millrace/source";
  const child = spawn(process.execPath, [sources, script, ...where, ...what]);
  let output = "";
  child.stdout.on("data", (text: Buffer) => (output += text.toString()));
  await expect.poll(() => output, { timeout: 50_000 }).toContain("records");

  const url = output.split(" ")[0] ?? "";
  expect(await (await fetch(url)).text()).toBe(events);
  child.kill("SIGINT");
  await once(child, "close");

  expect(output).toContain('{"kind":"saved","name":"cli-1"}');
  expect(await readFile(join(folder, "cli-1.sse"), "utf8")).toBe(events);
});
