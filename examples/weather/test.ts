// Runs the programs as their user does, each in a process of its own, against a vendor on this machine
// that sends Anthropic's bytes over a real socket.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startVendorServer } from "@millrace/providers/testing";
import type { VendorServer } from "@millrace/providers/testing";
import { reply, text, toolUse, unfinished } from "./vendor.ts";

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

interface Started {
  readonly ended: Promise<Ended>;
  /** Presses Ctrl-C once it has written this. */
  readonly interruptAt: (text: string) => void;
}

/** No program hangs the test, nor outlives it by long. */
const bounded = { timeout: 60_000, killSignal: "SIGKILL" } as const;

interface Setting {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

const standIn = import.meta.resolve("./weather-example.ts");

function start(program: string, { cwd, env = {} }: Setting): Started {
  const file = (name: string): string => new URL(name, import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    ["--conditions=@millrace/source", "--import", standIn, file(program)],
    { cwd, env: { PATH: process.env["PATH"], ...env }, ...bounded },
  );
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (stdout += piece));
  child.stderr.setEncoding("utf8").on("data", (piece: string) => (stderr += piece));
  const ended = once(child, "close").then(() => ({ stdout, stderr, code: child.exitCode }));
  const interruptAt = (awaited: string): void => {
    const look = (): void => {
      if (!stdout.includes(awaited)) return;
      child.stdout.off("data", look);
      child.kill("SIGINT");
    };
    child.stdout.on("data", look);
  };
  return { ended, interruptAt };
}

const asked: string[] = [];
const cities = createServer((request, response) => {
  asked.push(request.url ?? "");
  response.end(JSON.stringify({ celsius: 4 }));
}).listen(0, "127.0.0.1");
await once(cities, "listening");
const weatherUrl = `http://127.0.0.1:${(cities.address() as AddressInfo).port}`;

function keyed(vendor: VendorServer): NodeJS.ProcessEnv {
  return { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: vendor.url, WEATHER_URL: weatherUrl };
}

/** The text of each message of a request, of every role. */
function textOf(vendor: VendorServer, number: number): string {
  return JSON.stringify(vendor.requests[number - 1]?.json);
}

const cwd = await mkdtemp(join(tmpdir(), "millrace-weather-"));
try {
  await oneFile();
  await aSession();
  await aReceipt();
} finally {
  cities.close();
  await rm(cwd, { recursive: true });
}
console.log("the programs print what their documents show");

async function oneFile(): Promise<void> {
  const without = await start("main.ts", { cwd }).ended;
  assert.equal(without.stdout, "");
  assert.match(without.stderr, /there is no key: pass apiKey, or set ANTHROPIC_API_KEY/);

  await using vendor = await startVendorServer({
    replies: [
      { body: reply(toolUse("toolu_1", "weather", { city: "Oslo" })), chunks: "byte" },
      { body: reply(text("It is 4 °C: ", "take a coat.\n")) },
    ],
  });
  const { stdout, stderr } = await start("main.ts", { cwd, env: keyed(vendor) }).ended;
  assert.equal(stderr, "");
  assert.equal(stdout, "\n[weather: Oslo]\nIt is 4 °C: take a coat.\n");
  assert.deepEqual(asked, ["/Oslo"]);
  assert.match(textOf(vendor, 1), /You help people pack\./);
  assert.match(textOf(vendor, 2), /celsius/);
}

async function aSession(): Promise<void> {
  await using vendor = await startVendorServer({
    replies: [
      { body: reply(toolUse("toolu_1", "weather", { city: "Oslo" })) },
      { body: reply(text("Tomorrow it is 39 °F.")) },
      { body: unfinished(text("The day after, ")), end: "stay_open" },
      { body: reply(text("As I said: cold.")) },
    ],
  });
  const env = keyed(vendor);

  // The correction was sent before the first request, so that request has it, once.
  const first = await start("session.ts", { cwd, env }).ended;
  assert.equal(first.stderr, "");
  assert.match(first.stdout, /Tomorrow it is 39 °F\./);
  assert.match(textOf(vendor, 1), /And tomorrow\?.*In Fahrenheit, please\./);
  assert.equal(textOf(vendor, 2).split("In Fahrenheit, please.").length, 2);

  // Ctrl-C in the middle of a reply: the program ends by itself, and the reply so far is in the
  // file.
  const second = start("session.ts", { cwd, env });
  second.interruptAt("The day after");
  const stopped = await second.ended;
  assert.deepEqual([stopped.code, stopped.stderr], [0, ""]);
  assert.match(textOf(vendor, 3), /Tomorrow it is 39 °F\./);

  const third = await start("session.ts", { cwd, env }).ended;
  assert.match(third.stdout, /As I said: cold\./);
  assert.match(textOf(vendor, 4), /The day after, /);
}

async function aReceipt(): Promise<void> {
  await writeFile(join(cwd, "receipt.png"), Buffer.from("89504e470d0a1a0a", "hex"));
  await using vendor = await startVendorServer({
    replies: [
      { body: reply(text('{"total": 12.5,', ' "currency": "EUR"}')) },
      { body: reply(text("I can't read it.")) },
      { body: reply(text('{"total": "much"}')) },
      { body: reply(text("No.")) },
    ],
  });
  const env = keyed(vendor);

  const read = await start("receipt.ts", { cwd, env }).ended;
  assert.deepEqual(read, { stdout: "12.5 EUR\n", stderr: "", code: 0 });
  assert.match(textOf(vendor, 1), /"type":"image".*iVBORw0KGgo=/);
  assert.match(textOf(vendor, 1), /"output_config":{"format":{"type":"json_schema"/);

  // An answer of another shape is requested again; the second one is returned unchanged.
  const unread = await start("receipt.ts", { cwd, env }).ended;
  assert.deepEqual(unread, { stdout: "", stderr: "failed No.\n", code: 0 });
  assert.match(textOf(vendor, 4), /much.*total/);
  assert.equal(vendor.requests.length, 4);
}
