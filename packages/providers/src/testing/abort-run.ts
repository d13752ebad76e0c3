/**
 * Aborts requests at random moments, in a process of its own, and prints what is left of them:
 *
 *     node --conditions=@millrace/source abort-run.ts <aborts> <seed>
 *
 * A moment is a time, a number of deltas, or the consumer leaving its loop. The vendor sends a
 * reply in small pieces over a real socket. It runs in the same process.
 */
import { startVendorServer } from "../serve/vendor-server.ts";
import { createRandom } from "../serve/random.ts";
import { toyModel } from "./toy-model.ts";

const [aborts = 200, seed = 1] = process.argv.slice(2).map(Number);
const random = createRandom(seed);
const rejections: string[] = [];
process.on("unhandledRejection", (reason) => rejections.push(String(reason)));
process.on("uncaughtException", (error) => rejections.push(String(error)));

const words = Array.from({ length: 20 }, (_, at) => `data: {"say":"word ${at} "}\n\n`).join("");
const body = `${words}data: {"end":true}\n\n`;
const server = await startVendorServer({
  replies: (request) => ({
    body,
    chunks: { seed: request.number, largest: 40 },
    delayMs: request.number % 3 === 0 ? 0 : 1,
    headersDelayMs: request.number % 5 === 0 ? 5 : 0,
    end: request.number % 7 === 0 ? "stay_open" : "whole",
  }),
});

const outcomes: Record<string, number> = {};
const before = resources();

async function abortOne(): Promise<void> {
  const stop = new AbortController();
  const moment = random();
  const after = Math.floor(random() * 25);
  const model = toyModel(server.url, { fetch: random() < 0.3 ? fetch : undefined, retry: false });
  const stream = model.stream({ transcript: [], signal: stop.signal });
  if (moment < 0.1) stop.abort();
  if (moment < 0.6) setTimeout(() => stop.abort(), random() * 40);
  let seen = 0;
  for await (const _ of stream) {
    seen += 1;
    if (moment >= 0.6 && seen >= after) {
      if (moment > 0.8) break;
      stop.abort();
    }
  }
  const { stop: how } = await stream.result;
  outcomes[how] = (outcomes[how] ?? 0) + 1;
}

for (let done = 0; done < aborts; done += 20) {
  await Promise.all(Array.from({ length: Math.min(20, aborts - done) }, abortOne));
}

// Idle connections may be kept for the next request; those of aborted requests must be gone.
await new Promise((resolve) => setTimeout(resolve, 600));
const cut = server.requests.filter(({ outcome }) => outcome === undefined).length;
await server.close();
await new Promise((resolve) => setTimeout(resolve, 300));
console.log(JSON.stringify({ outcomes, unfinished: cut, before, after: resources(), rejections }));

/** The resources that would keep a process alive, without its standard streams. */
function resources(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => !["TTYWrap", "PipeWrap", "TCPServerWrap", "Immediate"].includes(name));
}
