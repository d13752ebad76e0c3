// Streaming from the bytes of a socket to a terminal: a provider that streams, one fold that collects, a
// mock without a network, and an agent that is shared by tasks that run at once.
import { emptyDraft, fold } from "@millrace/core";
import type { Model } from "@millrace/core";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { openaiCompatible } from "@millrace/providers/openai";
import { callLines, startRawServer, textLines } from "./raw-server.ts";
import { show, streamingAgent } from "./streaming-agent.ts";

/** Deltas as they come, folded as they come, and what the request came to. */
async function streamChat(name: string, model: Model): Promise<void> {
  const stream = model.stream({ transcript: [] });
  let draft = emptyDraft();
  const seen: string[] = [];
  for await (const delta of stream) {
    draft = fold(draft, delta); // all that collects
    if (delta.op === "append_text") seen.push(delta.chunk);
  }
  const { stop, parts } = await stream.result;
  const whole = parts.map((part) =>
    part.kind === "tool_call" ? `${part.tool}(${part.raw})` : "text" in part ? part.text : "",
  );
  console.log(`${name}: ${JSON.stringify(seen)} -> ${whole.join(" ")} (${stop})`);
}

await using server = await startRawServer([
  { lines: textLines("Hello", " world") },
  { lines: callLines("read", '{"pa', 'th": "f.txt"}') },
  { lines: callLines("read", '{"pa', 'th": "f.txt"}') },
  { lines: textLines("It says ", "forty-two.") },
  { lines: textLines("You asked about ", "f.txt.") },
  { status: "500 Internal Server Error", lines: ["oops"] },
]);
const provider = openaiCompatible("local", { baseUrl: server.url, retry: false });

await streamChat("provider", provider);
await streamChat("provider", provider);
await streamChat("mock", scriptedModel([[say("Hello")]]));
await streamChat("mock", scriptedModel([[call("read", { path: "f.txt" })]]));

const print = (text: string): void => void process.stdout.write(text);
const agent = streamingAgent(provider);
await using chat = await agent.open();
const { ticks } = await show(chat.send("What is in f.txt?"), print);
console.log(ticks > 0 ? "\nthe spinner turned" : "\nthe spinner stood still");
await show(chat.send("What did I ask?"), print);
console.log(`\nhistory: ${chat.transcript.map(({ author }) => author).join(", ")}`);
await show(chat.send("And now?"), print);

// One agent, and as many tasks as there are.
const shared = streamingAgent(
  scriptedModel(
    Array.from({ length: 20 }, (_, task) => [say(`reply ${task}`)]),
    { delayMs: 1 },
  ),
);
const tasks = Array.from({ length: 20 }, () => shared.run("go").text());
console.log(`\nconcurrent: ${new Set(await Promise.all(tasks)).size} replies`);
