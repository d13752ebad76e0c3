/**
 * Client connections in a process of their own, driven by messages of the parent. `open` makes
 * connections to a path, which may be stalled: they do not read. `until` waits for that many bytes.
 * `times` gives the latencies seen so far. `resume` lets stalled connections read, and gives the texts
 * that they show. `close` destroys all connections of a path.
 */
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { Screen } from "./screen.ts";

/** A message of the parent. */
export type Request =
  | {
      readonly ask: "open";
      readonly port: number;
      readonly path: string;
      readonly count: number;
      readonly cursor?: string | undefined;
      readonly stalled?: boolean | undefined;
    }
  | { readonly ask: "until"; readonly bytes: number }
  | { readonly ask: "times" }
  | {
      readonly ask: "resume";
      readonly port: number;
      readonly path: string;
      readonly length: number;
    }
  | { readonly ask: "close"; readonly path: string };

const sockets = new Map<string, Socket[]>();
let got = 0;
let wanted = Infinity;
let reached: (() => void) | undefined;
/** By an event's time of sending: how long it took to each connection, in nanoseconds. */
let times = new Map<string, number[]>();

function take(bytes: Buffer): void {
  got += bytes.length;
  const at = bytes.indexOf("@");
  if (at >= 0) {
    const sent = bytes.toString("latin1", at + 1, bytes.indexOf(";", at));
    const took = times.get(sent) ?? [];
    took.push(Number(process.hrtime.bigint() - BigInt(sent)));
    times.set(sent, took);
  }
  if (got >= wanted) reached?.();
}

async function join(port: number, path: string, cursor: string | undefined): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  const last = cursor === undefined ? "" : `last-event-id: ${cursor}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${last}\r\n`);
  return socket;
}

async function open(request: Extract<Request, { ask: "open" }>): Promise<void> {
  const { port, path, count, cursor, stalled } = request;
  const opened = sockets.get(path) ?? [];
  sockets.set(path, opened);
  for (let from = 0; from < count; from += 100) {
    const wave = Array.from({ length: Math.min(100, count - from) }, async () => {
      const socket = await join(port, path, cursor);
      opened.push(socket);
      if (stalled === true) return;
      socket.on("data", take);
      await once(socket, "data");
    });
    await Promise.all(wave);
  }
}

async function until(bytes: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  wanted = bytes;
  reached = resolve;
  if (got >= wanted) resolve();
  await promise;
  wanted = Infinity;
}

/** The texts that stalled connections show once they have read so much of the open lane. */
async function resume({
  port,
  path,
  length,
}: Extract<Request, { ask: "resume" }>): Promise<readonly string[]> {
  const all = sockets.get(path) ?? [];
  return Promise.all(
    all.map(async (stalled) => {
      let screen = new Screen();
      await readScreen(stalled, screen, length);
      // A viewer that read too slowly was ended, and comes back with its cursor.
      for (let times = 0; screen.reason === "slow" && times < 100; times += 1) {
        screen = new Screen(screen);
        const socket = await join(port, path, screen.lastEventId);
        await readScreen(socket, screen, length);
        socket.destroy();
      }
      return screen.laneText();
    }),
  );
}

async function readScreen(socket: Socket, screen: Screen, length: number): Promise<void> {
  for await (const bytes of socket) {
    screen.take(bytes as Buffer); // no encoding was set, so it is a Buffer
    if (screen.laneText().length >= length || screen.reason !== undefined) break;
  }
}

async function answer(request: Request): Promise<unknown> {
  switch (request.ask) {
    case "open":
      return open(request);
    case "until":
      return until(request.bytes);
    case "resume":
      return resume(request);
    case "times": {
      const taken = [...times.values()];
      times = new Map();
      return taken;
    }
    case "close":
      for (const socket of sockets.get(request.path) ?? []) socket.destroy();
      sockets.delete(request.path);
      return undefined;
    default:
      return request satisfies never;
  }
}

process.on("message", (request: Request) => {
  void (async () => {
    const given = await answer(request);
    process.send?.({ given });
  })();
});
process.on("disconnect", () => process.exit(0));
