import { execFile } from "node:child_process";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { snapshot } from "@millrace/core/reading";
import { expect, it } from "vitest";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { HttpViewer } from "./kit/http-viewer.ts";
import { startMemoryServer } from "./kit/memory-server.ts";
import type { MemoryServer } from "./kit/memory-server.ts";
import { createSession, credentials, prompt } from "./kit/person.ts";
import { openSilentProxy } from "./kit/silent-proxy.ts";

const isCampaign = process.env["CAMPAIGN"] === "1";
/** The times of a server: its own in a campaign. */
const times = isCampaign
  ? { heartbeatMs: 15_000, stallMs: 60_000 }
  : { heartbeatMs: 1_000, stallMs: 3_000 };
/** Tests run beside others: what is late by less is the machine's. */
const slackMs = 5_000;
/** Few of these are more than the kernel holds for a connection that is not read. */
const reply = "0123456789abcdef".repeat(200_000);

let prompts = 0;

async function write(server: MemoryServer, session: string): Promise<void> {
  prompts += 1;
  const key = `prompt-${prompts}`.padEnd(16, "x");
  await prompt(server.url, session, key, "write");
  const { uid } = (await server.store.find(session)) ?? never();
  const isOver = async (): Promise<boolean> =>
    (await server.store.read(uid)).some(
      (fact) => fact.type === "run_finished" && fact.runId === `run_${key}`,
    );
  await until(isOver, `${key} is answered`, { everyMs: 50 });
}

/** A connection of the server when it was last looked at, and when it last had progress. */
interface Seen {
  readonly sent: number;
  readonly at: number;
  /** Whether bytes wait to be taken. */
  readonly isWaiting: boolean;
}

/** Writes until the server has closed a connection that was full. Resolves to how long after its last progress. */
async function writeUntilClosed(server: MemoryServer, session: string): Promise<number> {
  const seen = new Map<Socket, Seen>();
  const closed: number[] = [];
  const look = (): void => {
    for (const socket of server.sockets) {
      const sent = socket.bytesWritten - socket.writableLength;
      const known = seen.get(socket);
      const at = known?.sent === sent ? known.at : performance.now();
      seen.set(socket, { sent, at, isWaiting: socket.writableLength > 0 });
      if (known !== undefined) continue;
      socket.once("close", () => {
        const last = seen.get(socket);
        if (last?.isWaiting === true) closed.push(performance.now() - last.at);
      });
    }
  };
  const looking = setInterval(look, 10);
  try {
    await until(
      async () => {
        const isFull = [...server.sockets].some((socket) => socket.writableNeedDrain);
        if (!isFull && closed.length === 0) await write(server, session);
        return closed.length > 0;
      },
      "a full connection is closed",
      { limitMs: 120_000 },
    );
  } finally {
    clearInterval(looking);
  }
  return closed[0] ?? NaN;
}

const stateOf = ({ state }: HttpViewer): string =>
  state === undefined ? "" : JSON.stringify(snapshot(state));

/** Waits until both viewers are at the head. */
async function areAtHead(server: MemoryServer, session: string, both: HttpViewer[]): Promise<void> {
  const { uid } = (await server.store.find(session)) ?? never();
  const { length } = await server.store.read(uid);
  await until(() => both.every(({ state }) => state?.head === length), "all are at the head");
}

it(
  "a connection whose network goes away without a word is given up by both sides, and its reader comes back",
  { timeout: patience },
  async (context) => {
    const run = promisify(execFile);
    const can = await run("unshare", ["-rn", "true"]).then(
      () => true,
      () => false,
    );
    if (!can) return context.skip(); // needs a kernel that lets users make networks
    const program = fileURLToPath(new URL("./kit/half-open-run.ts", import.meta.url));
    const { heartbeatMs } = times;
    const stallMs = isCampaign ? 60_000 : 8_000;
    const node = [process.execPath, "--no-warnings", "--conditions=@millrace/source", program];
    const { stdout } = await run("unshare", ["-rn", ...node, String(heartbeatMs), String(stallMs)]);
    // The program of this test printed it.
    const { byServer, byReader, backMs, faults, connections } = JSON.parse(stdout) as Noticed;

    console.log(
      `count: half-open connections, 1, the server gives it up after ${byServer} ms, its reader after ${byReader} ms, back after ${backMs} ms`,
    );
    expect(byReader).toBeLessThanOrEqual(3 * heartbeatMs + slackMs);
    // The bytes of the next heartbeat are lost, and that they are is found at the second look.
    expect(byServer).toBeLessThanOrEqual(isCampaign ? 60_000 : 8_000 + slackMs);
    expect([faults, connections]).toEqual([[], 1]);
  },
);

interface Noticed {
  readonly byServer: number;
  readonly byReader: number;
  readonly backMs: number;
  readonly faults: readonly string[];
  readonly connections: number;
}

it(
  "a reader that never reads is closed after the time of a stall, and one that reads gets all",
  { timeout: patience },
  async () => {
    await using server = await startMemoryServer({ streams: times, reply });
    await createSession(server.url, "stalled");
    const stuck = connect(Number(new URL(server.url).port), "127.0.0.1").pause();
    stuck.on("error", () => undefined);
    const head = `host: 127.0.0.1\r\nauthorization: ${credentials["authorization"]}`;
    stuck.write(`GET /v1/sessions/stalled/events HTTP/1.1\r\n${head}\r\n\r\n`);
    using viewer = new HttpViewer({ session: "stalled", url: () => server.url });
    await until(() => viewer.connected, "the viewer watches");

    const livedMs = await writeUntilClosed(server, "stalled");
    await write(server, "stalled");
    await areAtHead(server, "stalled", [viewer]);

    console.log(
      `count: readers that never read, 1, closed ${Math.round(livedMs)} ms after it took the last byte`,
    );
    expect(livedMs).toBeGreaterThan(times.stallMs * 0.45);
    expect(livedMs).toBeLessThan(times.stallMs + 2_000);
    expect([viewer.connections, viewer.snapshots, viewer.checks.faults]).toEqual([1, 1, []]);
    stuck.destroy();
  },
);

it(
  "a reader of one byte a second is ended as slow, and comes back to the state of the others",
  { timeout: patience },
  async () => {
    let isSlow = true;
    await using server = await startMemoryServer({ reply });
    await createSession(server.url, "slow");
    using other = new HttpViewer({ session: "slow", url: () => server.url });
    using slow = new HttpViewer({ session: "slow", url: () => server.url, isSlow: () => isSlow });
    await until(() => other.connected && server.sockets.size >= 2, "both watch");
    const isFull = (): boolean => [...server.sockets].some((socket) => socket.writableNeedDrain);
    while (!isFull()) await write(server, "slow");
    await write(server, "slow"); // more than is kept for it
    if (isCampaign) await sleep(30_000);
    isSlow = false;
    await areAtHead(server, "slow", [slow, other]);

    expect(stateOf(slow)).toBe(stateOf(other));
    expect([slow.ends, slow.connections, slow.checks.faults]).toEqual([["slow"], 2, []]);
    expect([other.ends, other.connections, other.checks.faults]).toEqual([[], 1, []]);
  },
);

it(
  "behind a proxy that goes silent the server closes a connection that takes nothing, and its reader comes back",
  { timeout: patience },
  async () => {
    await using server = await startMemoryServer({ streams: times, reply });
    await using proxy = await openSilentProxy(server.url);
    await createSession(server.url, "hushed");
    using other = new HttpViewer({ session: "hushed", url: () => server.url });
    using viewer = new HttpViewer({
      session: "hushed",
      url: () => proxy.url,
      silentMs: times.heartbeatMs * 3,
    });
    await until(() => viewer.connected && other.connected, "both watch");
    proxy.hush();
    const hushedAt = performance.now();
    const noticed = until(() => !viewer.connected, "the reader notices", { limitMs: 120_000 }).then(
      () => performance.now() - hushedAt,
    );
    const livedMs = await writeUntilClosed(server, "hushed");
    const noticedMs = await noticed;
    await areAtHead(server, "hushed", [viewer, other]);

    console.log(
      `count: proxies that go silent, 1, the server closes ${Math.round(livedMs)} ms after the last byte, the reader after ${Math.round(noticedMs)} ms`,
    );
    expect(livedMs).toBeLessThan(times.stallMs + 2_000);
    expect(noticedMs).toBeLessThan(times.heartbeatMs * 3 + slackMs);
    expect([viewer.connections, viewer.checks.faults]).toEqual([2, []]);
    expect(stateOf(viewer)).toBe(stateOf(other));
  },
);

function never(): never {
  throw new Error("there is no such session");
}
