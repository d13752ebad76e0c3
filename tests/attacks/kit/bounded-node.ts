/** A server with the limits that are there by default, in a process of its own that reports what requests cost it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { defineAgent } from "@millrace/agent";
import { say, scriptedModel } from "@millrace/core/testing";
import { agUi } from "@millrace/dialects/ag-ui";
import { aiSdk } from "@millrace/dialects/ai-sdk";
import { openai } from "@millrace/dialects/openai";
import { createMillrace } from "@millrace/server";

/** What requests cost since the last report. */
export interface Cost {
  /** The longest that one turn of the event loop held the processor, in milliseconds of processor time. */
  readonly longest: number;
  /** The most memory that was resident, in bytes. */
  readonly peak: number;
}

const agent = defineAgent({
  model: { id: "m/m", stream: (request) => scriptedModel([[say("ok")]]).stream(request) },
});
const millrace = createMillrace({
  agent,
  dialects: [aiSdk(), agUi(), openai()],
  authenticate: ({ headers }) => {
    const user = headers.get("authorization")?.slice("Bearer ".length);
    return user === undefined ? undefined : { tenant: "t", user };
  },
});
const server = createServer(millrace.node).listen(
  0,
  "127.0.0.1",
  () => process.send?.((server.address() as AddressInfo).port), // it listens on TCP
);

let longest = 0;
let before = process.threadCpuUsage();
function turn(): void {
  const { user, system } = process.threadCpuUsage(before);
  longest = Math.max(longest, (user + system) / 1_000);
  before = process.threadCpuUsage();
  setImmediate(turn);
}
// It keeps the processor busy, so it runs only where turns are measured.
if (process.argv.includes("turns")) turn();

let peak = 0;
setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10);

process.on("message", () => {
  globalThis.gc?.();
  process.send?.({ longest, peak } satisfies Cost);
  [longest, peak] = [0, process.memoryUsage.rss()];
  before = process.threadCpuUsage(); // the collection is not the requests'
});
process.on("disconnect", () => process.exit());
