/**
 * A stream whose network goes away without a word. Started in a network of its own (`unshare -rn`), whose only
 * link it takes down. Arguments: seconds between heartbeats, and of a stall. Prints JSON: after how long
 * each side had given the connection up, in milliseconds.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { until } from "../../kit/until.ts";
import { HttpViewer } from "./http-viewer.ts";
import { startMemoryServer } from "./memory-server.ts";
import { createSession } from "./person.ts";

const [heartbeatMs = 15_000, stallMs = 60_000] = process.argv.slice(2).map(Number);
const link = (state: "up" | "down"): unknown =>
  execFileSync("ip", ["link", "set", "lo", state], { stdio: "inherit" });

link("up");
await using server = await startMemoryServer({ streams: { heartbeatMs, stallMs } });
await createSession(server.url, "quiet");
using viewer = new HttpViewer({
  session: "quiet",
  url: () => server.url,
  silentMs: 3 * heartbeatMs,
});
await until(() => viewer.connected, "the viewer watches");
const [socket] = server.sockets;
if (socket === undefined) throw new Error("no connection");

link("down");
const downAt = performance.now();
const after = (): number => Math.round(performance.now() - downAt);
const noticed = async (isSo: () => boolean, what: string): Promise<number> => {
  await until(isSo, what, { limitMs: 120_000 });
  return after();
};
const byServer = once(socket, "close").then(after);
const byReader = noticed(() => !viewer.connected, "the reader notices");
const ms = { byServer: await byServer, byReader: await byReader };
link("up");
// The same reader comes back by itself, and the lost connection is no more a viewer.
const backMs = await noticed(() => viewer.connected, "the reader is back");
const { faults } = viewer.checks;
console.log(JSON.stringify({ ...ms, backMs, faults, connections: server.sockets.size }));
