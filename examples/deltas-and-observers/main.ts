// Five sequences of deltas, from a vendor's bytes to the transcript, with three observers that watch.
import { setTimeout as later } from "node:timers/promises";
import { createUsageMeter, defineAgent, defineTool } from "@millrace/agent";
import { openaiCompatible } from "@millrace/providers/openai";
import { startVendorServer } from "@millrace/providers/testing";
import { z } from "zod";
import { channelReporter, deltaLog, stdoutReporter } from "./reporters.ts";
import { sequences } from "./vendor.ts";

const readFile = defineTool({
  name: "fs.read_file",
  description: "Reads a file",
  input: z.object({ path: z.string() }),
  effect: "pure",
  run: ({ path }) => `the text of ${path}`,
});
const exec = defineTool({
  name: "shell.exec",
  description: "Runs a program",
  input: z.object({ executable: z.string() }),
  effect: "pure",
  run: ({ executable }) => `what ${executable} printed`,
});

const rows: string[] = [];
const usage = createUsageMeter();
await using channel = channelReporter(async (row) => {
  await later(5); // a database, say
  rows.push(row);
});

await using vendor = await startVendorServer({
  replies: Object.values(sequences)
    .flat()
    .map((body) => ({ body })),
});
const agent = defineAgent({
  model: openaiCompatible("local", { baseUrl: vendor.url }),
  tools: [readFile, exec],
  observers: [stdoutReporter((text) => process.stdout.write(text)), usage.observe, channel],
});

for (const name of Object.keys(sequences)) {
  console.log(`\n== ${name}`);
  const lines: string[] = [];
  await using session = await agent.open();
  // An observer of this run alone, after those of the agent.
  await session.send("What is the answer?", { observers: [deltaLog(lines)] }).result;
  console.log(`\n${lines.join("\n")}`);
  const parts = session.transcript.flatMap((item) => item.parts.map(({ kind }) => kind));
  console.log(`transcript: ${parts.join(", ")}`);
}

await channel.idle();
const { inputTokens, outputTokens } = usage.total();
console.log(`\nused: ${inputTokens} in, ${outputTokens} out`);
console.log(`channel: ${rows.length} items, the last ${rows.at(-1)}`);
