// In a script the question goes to the person that started the run.
import { createInterface } from "node:readline/promises";
import { defineAgent, narrateTo } from "@millrace/agent";
import { showQuestion } from "@millrace/core/reading";
import type { AskedCall } from "@millrace/core/reading";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { payments } from "./payments.ts";
import { refund } from "./refund.ts";

const model = scriptedModel([[call("refund", { order: "A1", cents: 9_000 })], [say("Done.")]]);
const agent = defineAgent({ model, tools: [refund], observers: [narrateTo(process.stdout)] });

async function confirm(asked: AskedCall) {
  const { tool, input, parsed = input } = showQuestion(asked); // what runs: escaped, and all of it
  using terminal = createInterface(process.stdin, process.stdout);
  const answer = await terminal.question(`${tool} ${parsed.text}: y or n? `);
  return answer === "y" ? "allow" : "deny";
}

await agent.run("refund order A1", { ask: (call) => confirm(call) }).result;
console.log("paid back:", payments.paid());
