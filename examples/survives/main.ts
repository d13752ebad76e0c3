// A worker is killed in the middle of its sentence. Another one goes on, and viewers see the second
// answer replace the first. One answer is stored.
//
//     npm run services -- redis postgres run npm start -w examples/survives
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { systemClock } from "@millrace/core/memory";
import { createHub } from "@millrace/server/hub";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { createGateway } from "./gateway.ts";
import { watch } from "./viewer.ts";

await using store = postgresStore();
await using log = redisLog();
await store.migrate();
const left = await store.find("a long answer");
if (left !== undefined) await store.remove(left.uid);
const { uid } = await store.create({ sessionId: "a long answer" });

using hub = createHub({ store, log, clock: systemClock });
const gateway = createGateway(hub, store).listen(0, "127.0.0.1");
await once(gateway, "listening");
const { port } = gateway.address() as AddressInfo;

function startWorker(sentence: string): ChildProcess {
  const file = new URL("worker.ts", import.meta.url).pathname;
  const options = ["--conditions=@millrace/source", file, sentence];
  return spawn(process.execPath, options, { stdio: "inherit" });
}

let worker = startWorker("The first worker begins to say something that it will never end.");
let killed = false;
let shown = "";
for await (const { text } of watch(`http://127.0.0.1:${port}`)) {
  if (text === "" || text === shown) continue;
  const goesOn = text.startsWith(shown) && shown !== "";
  process.stdout.write(goesOn ? text.slice(shown.length) : `\n> ${text}`);
  shown = text;
  if (killed || text.length < 30) continue;
  killed = true;
  worker.kill("SIGKILL");
  await once(worker, "exit");
  process.stdout.write("\n  (the worker is dead)");
  worker = startWorker("The second worker says all of it.");
}
gateway.closeAllConnections();
gateway.close();
const facts = await store.read(uid);
const answers = facts.filter((fact) => fact.type === "item_committed" && fact.epoch !== undefined);
console.log(`\n\nshown: ${shown}\nstored: ${answers.length} answer`);
if (worker.exitCode === null) await once(worker, "exit");
