import { defineAgent } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { colleagueReplyTo, replyTo } from "./replies.ts";
import { pauseForPeople, pace } from "./pace.ts";
import type { Pause } from "./pace.ts";
import { demoTools } from "./tools.ts";

// The agent of the app. Its tools pretend, whichever model calls them.

const instructions =
  "You help an on-call engineer. Your tools are a demonstration: they answer with made-up data.";

/** Tools that are agents. */
export const subAgents: readonly string[] = ["colleague"];

/** What an agent of the app is made of, beside its model. */
interface AgentOptions {
  /** The model of its colleague. Left out: the same one. */
  readonly colleague?: Model;
  readonly pause?: Pause;
}

/** An agent with a model, and with a colleague. */
export function agentWith(model: Model, options: AgentOptions = {}): Agent {
  const tools = demoTools(options.pause ?? pauseForPeople);
  const colleague = defineAgent({
    name: "colleague",
    model: options.colleague ?? model,
    instructions,
    tools: tools.colleague,
  }).asTool({ name: "colleague", description: "A colleague who reads the runbook" });
  return defineAgent({
    name: "on-call",
    model,
    instructions,
    tools: [...tools.own, colleague],
    approvalTimeoutMs: 3_600_000,
  });
}

const delayMs = 16 * pace;

/** A model that computes its reply from the transcript, and writes it at the pace of a real one. */
function demoModel(
  id: string,
  replyTo: (transcript: Parameters<Model["stream"]>[0]["transcript"]) => readonly ScriptedPart[],
): Model {
  const options = { id, delayMs, chunk: [4, 7, 3, 6, 5] };
  return {
    id,
    stream: (request) =>
      scriptedModel([({ transcript }) => replyTo(transcript)], options).stream(request),
  };
}

/** The models that play a script. */
export const demoModels = {
  own: demoModel("demo/on-call", replyTo),
  colleague: demoModel("demo/colleague", colleagueReplyTo),
};

/** The agent that plays a script. */
export const demoAgent: Agent = agentWith(demoModels.own, { colleague: demoModels.colleague });
