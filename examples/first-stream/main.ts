// A scripted model writes into a log, a server streams it, and a second process watches it through a
// connection that is cut after every event. It must see every character once and in order.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { say, scriptedModel, think } from "@millrace/core/testing";
import { runOnce } from "./run.ts";
import { createEventServer } from "./server.ts";

const answer =
  "It is 4 °C in Oslo, with light snow ❄️. Take the warm coat, and boots. 🧥🥾 ".repeat(4);
const store = memorySessionStore();
const log = memoryEventLog();
const session = await store.create({ sessionId: "trip-to-oslo" });

const server = createEventServer(store, log).listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
const viewer = promisify(execFile)(process.execPath, [
  "--conditions=@millrace/source",
  new URL("viewer.ts", import.meta.url).pathname,
  `http://127.0.0.1:${port}/sessions/trip-to-oslo/events`,
]);

// Ten milliseconds a character: the viewer has to reconnect many times before the end.
const model = scriptedModel([[think("Cold."), say(answer)]], { delayMs: 10 });
const item = await runOnce(store, log, session, model);
const { stdout } = await viewer;
server.close();

const seen = JSON.parse(stdout) as {
  connections: number;
  received: string;
  items: { parts: { text: string }[] }[];
};
const shown = seen.items.at(-1)?.parts.map((part) => part.text);
console.log(
  `${seen.connections} connections, each cut after one event; ${seen.received.length} characters received`,
);
assert.equal(seen.received, answer, "every character once and in order");
assert.deepEqual(
  shown,
  item.parts.map((part) => ("text" in part ? part.text : "")),
  "the committed item",
);
assert.ok(seen.connections > 20, "it was cut many times");
