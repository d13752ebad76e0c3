/**
 * Makes many runs in one process, one log and a session for each, and prints the heap after some and after all. The
 * log's clock moves 600 times as fast, so that the time for which a log keeps lanes passes. Stores are changed: one
 * in memory keeps a tombstone of each removed session for ever.
 */
import { defineAgent, defineTool } from "@millrace/agent";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { Model } from "@millrace/core";
import { z } from "zod";

const [least = 0, all = 0, words = 1] = process.argv.slice(2).map(Number);
const atOnce = 20;
const runsPerStore = 100;

function heap(): number {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc");
  for (let time = 0; time < 3; time += 1) globalThis.gc();
  return process.memoryUsage().heapUsed;
}

const tool = defineTool({
  name: "look",
  input: z.object({}),
  effect: "effectful",
  run: async () => "ok",
});
const model: Model = {
  id: "many/model",
  stream: (request) => {
    const first = request.transcript.at(-1)?.author === "user";
    const reply = first ? [say("word ".repeat(words)), call("look", {})] : [say("done")];
    return scriptedModel([reply], { chunk: [5] }).stream(request);
  },
};
const agent = defineAgent({ model, tools: [tool] });
const log = memoryEventLog({ clock: { monotonic: () => performance.now() * 600 } });

async function run(store: SessionStore, id: string): Promise<void> {
  await using session = await agent.open({ id, store, log });
  const { outcome } = await session.send("x").result;
  if (outcome !== "completed") throw new Error(`the run ${outcome}`);
}

const heaps: number[] = [];
let store = memorySessionStore();
for (let done = 0; done < all; done += atOnce) {
  if (done % runsPerStore === 0) store = memorySessionStore();
  await Promise.all(Array.from({ length: atOnce }, (_, at) => run(store, `s${done + at}`)));
  if (done + atOnce === least || done + atOnce === all) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    heaps.push(heap());
  }
}
process.stdout.write(JSON.stringify(heaps));
process.exit(0);
