// One task, its events on the screen, its session in a file.
import { tmpdir } from "node:os";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileStore } from "@millrace/stores/file";
import { codingAgent, submit } from "./agent.ts";
import { fauxProvider } from "./faux.ts";

await using store = fileStore(await mkdtemp(join(tmpdir(), "coding-agent-")));
await using session = await codingAgent(fauxProvider(), () => undefined).open({ store });
const { events, result } = submit(session, "Which port is configured?");
for await (const event of events) console.log(JSON.stringify(event));
console.log((await result).text);
