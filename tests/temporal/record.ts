/**
 * Records the histories of `features` anew: `node --conditions=@millrace/source tests/temporal/record.ts`,
 * with the names of features, or for all. Only for a new feature, or before the first release that has a
 * change of the workflow: a history that was recorded by a release is kept, since sessions run on.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import proto from "@temporalio/proto";
import { connectTo, startServers } from "./cluster.ts";
import { features, longEvents } from "./features.ts";
import { storedRuns } from "./stored-history.ts";

const folder = new URL("histories/", import.meta.url);
const asked = process.argv.slice(2);
const names = asked.length === 0 ? Object.keys(features) : asked;

const settings = { "limit.historyCount.suggestContinueAsNew": longEvents };
await using servers = await startServers({ settings });
await using cluster = await connectTo(servers);
const agents = new Map(names.map((name) => [name, features[name]?.agent()]));
const agent = ({ sessionId }: { readonly sessionId: string }) => agents.get(sessionId);
await cluster.work({ agent });
await cluster.work({ agent, taskQueue: "gpu", workflows: false });
await mkdir(folder, { recursive: true });
await Promise.all(names.map(record));

async function record(name: string): Promise<void> {
  const talk = await cluster.talk(name);
  await talk.send("hello");
  await features[name]?.play?.(talk);
  await talk.handle.result();
  const runs = await storedRuns(cluster.client, talk.handle.workflowId);
  for (const [index, { events }] of runs.entries()) {
    const history = proto.temporal.api.history.v1.History.create({ events: [...events] });
    const file = new URL(`${name}${index === 0 ? "" : `-${index + 1}`}.json`, folder);
    await writeFile(file, `${JSON.stringify(JSON.parse(historyToJSON(history)))}\n`);
    console.log(`${name}: ${events.length} events`);
  }
}
