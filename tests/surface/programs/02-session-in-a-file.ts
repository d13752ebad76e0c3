// A session that lives in a file. Names and ids are plain strings where they go in.
import { fileStore } from "@millrace/stores/file";
import { agent } from "./01-one-file.ts";

const store = fileStore("./sessions");
const known = await store.find("trip-to-oslo");
console.log(known === undefined ? "a new one" : `${known.head} facts so far`);

await using session = await agent.open({ id: "trip-to-oslo", store });
const run = session.send("And tomorrow?");
session.steer("In Fahrenheit, please."); // at the next consistent boundary; a second send waits for the end
process.once("SIGINT", () => run.abort()); // what came is kept, and the session goes on
await run.result;

const branch = await session.fork("item_1", "another-trip");
await branch.close();
for (const approvalId of process.argv.slice(2)) session.allow(approvalId);
session.answer("call_1", { city: "Oslo" });
