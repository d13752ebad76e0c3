/** Asks a server for its health again and again, and reports how long each answer took. A process of its own. */
import { readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const [port, pid] = process.argv.slice(2);

/** The processor time that the server's main thread has used, in milliseconds. */
function processorMs(): number {
  const [used = ""] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return Number(used) / 1e6;
}

const delays: number[] = [];
const over = new AbortController();
process.once("message", () => over.abort());
while (!over.signal.aborted) {
  // On a loaded machine all wait for the processor; what counts is what the server did meanwhile.
  const begun = processorMs();
  await (await fetch(`http://127.0.0.1:${port}/v1/health`)).text();
  delays.push(processorMs() - begun);
  await sleep(2);
}
process.send?.(delays);
process.disconnect();
