// The agent of the app. Its tools pretend, whichever model calls them.
import { defineAgent } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { demoModel } from "./model.ts";
import { colleagueReplyTo, replyTo } from "./replies.ts";
import { readRunbook, tools } from "./tools.ts";

const instructions =
  "You help an on-call engineer. Your tools are a demonstration: they answer with made-up data.";

/** Tools that are agents. */
export const subAgents: readonly string[] = ["colleague"];

/** An agent with a model, and with a colleague that has the same one. */
export function agentWith(model: Model, colleagueModel: Model = model): Agent {
  const colleague = defineAgent({
    name: "colleague",
    model: colleagueModel,
    instructions,
    tools: [readRunbook],
  }).asTool({ name: "colleague", description: "A colleague who reads the runbook" });
  return defineAgent({ name: "on-call", model, instructions, tools: [...tools, colleague] });
}

/** The agent that plays a script. */
export const demoAgent: Agent = agentWith(
  demoModel("demo/on-call", replyTo),
  demoModel("demo/colleague", colleagueReplyTo),
);
