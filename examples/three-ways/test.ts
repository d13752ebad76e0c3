// Runs each way of streaming with a scripted model, and checks what is stored, what is narrated
// meanwhile, and how it ends. Then runs each of the programs, as its author would.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Agent } from "@millrace/agent";
import type { Item, Model } from "@millrace/core";
import { say, scriptedModel, trace } from "@millrace/core/testing";
import { breaking, reporting, yielding } from "./agents.ts";

interface Shown {
  /** The text as it was written. */
  readonly live: string;
  readonly items: readonly Item[];
  readonly outcome: string;
  readonly stored: string;
}

async function run(agent: Agent): Promise<Shown> {
  await using session = await agent.open();
  const run = session.send("Tell me.");
  let live = "";
  for await (const event of run.narrate()) {
    if (event.type === "assistant_text_delta") live += event.text;
  }
  const { outcome } = await run.result;
  return { live, outcome, items: session.transcript, stored: trace(session.transcript) };
}

function saying(text: string, stop: "end" | "length" = "end"): Model {
  return scriptedModel([[say(text), { end: { stop } }]]);
}

const yielded = await run(yielding(saying("Four degrees.")));
assert.equal(yielded.live, "Four degrees.");
assert.deepEqual(texts(yielded), ["Tell me.", "Four degrees."]);
assert.equal(yielded.outcome, "completed");

const reported = await run(reporting(saying("Once upon a", "length")));
assert.deepEqual(texts(reported), [
  "Tell me.",
  "Once upon a",
  "I had to stop here.",
  "USER 1 MODEL 1 AGENT 1 ",
]);
assert.match(reported.stored, /"metadata":\{"sources":3\}/);

const broken = await run(breaking());
assert.deepEqual(texts(broken), ["Tell me.", "I had just "]);
assert.equal(broken.items.at(-1)?.stop, "failed");
assert.equal(broken.outcome, "failed");

await prints("sync.ts", "Take a warm coat. (1 message)", "completed: 1 part, end");
await prints(
  "auto.ts",
  "Take a warm coat.",
  "[ { role: 'assistant', content: 'Take a warm coat.' } ]",
);
await prints(
  "manual.ts",
  "TAKE A WARM COAT. (1 MESSAGE)",
  "TAKE |A WARM |COAT. |(1 MESSAGE)",
  '{"author":"agent","metadata":{"chunks":4,"characters":29},"kind":"text","text":"TAKE A WARM COAT. (1 MESSAGE)"}',
  "",
  "[ { role: 'assistant', content: 'Take a warm coat. (1 message)' } ]",
);
await prints(
  "override.ts",
  "Take a warm coat. (1 message)",
  "replaced",
  '{"author":"model","metadata":{"sources":1},"kind":"text","text":"Take a warm coat. (1 message)\\n\\n## Sources\\n- Norwegian Meteorological Institute"}',
  "",
  "completed",
);
console.log("sync, auto, manual and override print what they show");

/** Runs a program as its author would, and compares what it prints, line by line. */
async function prints(program: string, ...lines: readonly string[]): Promise<void> {
  const file = new URL(program, import.meta.url).pathname;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    "--conditions=@millrace/source",
    file,
  ]);
  assert.equal(stderr, "");
  assert.equal(stdout, `${lines.join("\n")}\n`, program);
}

function texts({ items }: Shown): readonly string[] {
  return items.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")).join(""));
}
