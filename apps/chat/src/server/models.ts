import type { Agent, SessionInfo } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { gemini } from "@millrace/providers/gemini";
import { findModel } from "@millrace/providers/models";
import { openai } from "@millrace/providers/openai";
import { agentWith, demoAgent } from "../demo/agent.ts";
import { modelField } from "../shared.ts";
import type { ChatModel } from "../shared.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A model that sessions can choose, with the agent that uses it. */
export interface Choice extends ChatModel {
  readonly agent: Agent;
}

/** One row for each vendor: the variable that adds it, the model, and the one that replaces that model. */
const vendors = [
  {
    vendor: "anthropic",
    key: "ANTHROPIC_API_KEY",
    name: "ANTHROPIC_MODEL",
    own: "claude-sonnet-5",
  },
  { vendor: "openai", key: "OPENAI_API_KEY", name: "OPENAI_MODEL", own: "gpt-5.4" },
  { vendor: "gemini", key: "GEMINI_API_KEY", name: "GEMINI_MODEL", own: "gemini-3.5-flash" },
] as const;

const makers = { anthropic, openai, gemini } as const;

/** The models that the environment has keys for, and the demo, which is the last and needs none. */
export function modelsOf(env: Env): readonly Choice[] {
  const real = vendors.flatMap(({ vendor, key, name, own }) => {
    if ((env[key] ?? "") === "") return [];
    const model = env[name] || own;
    const facts = findModel(vendor, model);
    const made: Model = makers[vendor](model, facts?.price && { price: facts.price });
    const id = `${vendor}/${model}`;
    return [{ id, name: model, window: facts?.window, agent: agentWith(made) }];
  });
  return [...real, { id: "demo", name: "demo script", window: 200_000, agent: demoAgent }];
}

/** The agent of a session: of the model that its metadata names, else of the first one. */
export function chooseAgent(
  choices: readonly Choice[],
): (session: Pick<SessionInfo, "metadata">) => Agent {
  return ({ metadata }) => {
    const chosen = choices.find(({ id }) => id === metadata[modelField]) ?? choices[0];
    if (chosen === undefined) throw new Error("there is no model"); // the demo is always there
    return chosen.agent;
  };
}
