// Each way of streaming with a scripted model: what is stored, what is told while it is written, and how
// it ends.
import assert from "node:assert/strict";
import type { Agent } from "@millrace/agent";
import type { Item, Model } from "@millrace/core";
import { say, scriptedModel, trace } from "@millrace/core/testing";
import { breaking, concluding, reporting, yielding } from "./agents.ts";

interface Told {
  /** The text as it was written. */
  readonly live: string;
  readonly items: readonly Item[];
  readonly outcome: string;
  readonly stored: string;
}

async function run(agent: Agent): Promise<Told> {
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

const concluded = await run(concluding(saying("Press [1] twice.")));
assert.equal(concluded.live, "Press [1] twice.");
assert.deepEqual(texts(concluded), ["Tell me.", "Press (the manual, page 4) twice."]);

const broken = await run(breaking());
assert.deepEqual(texts(broken), ["Tell me.", "I had just "]);
assert.equal(broken.items.at(-1)?.stop, "failed");
assert.equal(broken.outcome, "failed");
console.log("yield, auto, manual and replace end as they say");

function texts({ items }: Told): readonly string[] {
  return items.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")).join(""));
}
