import { narrateTo } from "@millrace/agent";
import { fileStore } from "@millrace/stores/file";
import { packer } from "./agent.ts";

const agent = packer.with({ observers: [narrateTo(process.stdout)] });

await using session = await agent.open({ id: "trip-to-oslo", store: fileStore("./sessions") });
const run = session.send("And tomorrow?");
session.steer("In Fahrenheit, please."); // at the next consistent boundary; a second send waits for the end
process.once("SIGINT", () => run.abort()); // what came is kept, and the session goes on
await run.result;
