/**
 * One server under test, in a process of its own. Prints its port, and for each line on its input the
 * processor time that it has used, in microseconds, and its event loop's utilisation since the last one.
 *
 *     node bench/web/server.ts <contender> <address of the vendor>
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { servers } from "./servers.ts";

const [name = "", vendor = ""] = process.argv.slice(2);
const answer = servers[name]?.(vendor);
if (answer === undefined) throw new Error(`there is no contender ${name}`);
const server = createServer((request, response) => {
  response.socket?.setNoDelay(true);
  answer(Number(request.url?.slice(1)), response);
});
server.listen(0, "127.0.0.1", 1_024, () => {
  console.log((server.address() as AddressInfo).port);
});
const input = createInterface({ input: process.stdin });
let before = performance.eventLoopUtilization();
input.on("line", () => {
  const { user, system } = process.cpuUsage();
  const now = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(now, before);
  before = now;
  console.log(JSON.stringify({ cpu: user + system, utilization }));
});
input.on("close", () => process.exit(0));
