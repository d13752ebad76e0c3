// Prompts are posted, a worker drives them, and it is killed in the middle of its answers. A second worker
// finds the runs by itself and ends them.
//
//     npm run services -- redis postgres run npm start -w examples/workers
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkerEvent } from "@millrace/agent/worker";
import { createInbox } from "@millrace/core";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";

await using store = postgresStore();
await using log = redisLog();
await store.migrate();
const names = Array.from({ length: 6 }, (_, at) => `question ${at + 1}`);
for (const name of names) {
  const left = await store.find(name);
  if (left !== undefined) await store.remove(left.uid);
  const { uid } = await store.create({ sessionId: name });
  await createInbox({ store, log, uid }).send("Tell me something.", { key: "first" });
}

function startWorker(): ChildProcess {
  const file = new URL("worker.ts", import.meta.url).pathname;
  const options = ["--conditions=@millrace/source", file];
  return spawn(process.execPath, options, { stdio: ["ignore", "pipe", "inherit"] });
}

/** Calls back with what a worker reports. */
function watch(worker: ChildProcess, call: (event: WorkerEvent) => void): void {
  if (worker.stdout === null) return;
  createInterface({ input: worker.stdout }).on("line", (line) => {
    call(JSON.parse(line) as WorkerEvent);
  });
}

/** Waits until all sessions have a fact of this type. */
async function until(type: "run_started" | "run_finished"): Promise<void> {
  for (const name of names) {
    const { uid } = (await store.find(name))!;
    while (!(await store.read(uid)).some((fact) => fact.type === type)) await sleep(50);
  }
}

const first = startWorker();
await until("run_started");
first.kill("SIGKILL");
console.log("the first worker is dead");
const second = startWorker();
watch(second, (event) => {
  if (event.type === "session_taken" && event.after !== undefined)
    console.log(`${event.sessionId} is taken over`);
});
await until("run_finished");
second.kill("SIGTERM");
await once(second, "exit");
console.log(`${names.length} questions, ${names.length} answers; the second worker has shut down`);
