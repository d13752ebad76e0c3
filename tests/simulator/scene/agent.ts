import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { anthropic } from "@millrace/providers/anthropic";
import { z } from "zod";
import type { HttpNetwork } from "../world/http-network.ts";
import { simulation } from "../world/simulation.ts";
import type { WorldLedger } from "./ledger.ts";

export interface SceneAgentOptions {
  readonly ledger: WorldLedger;
  /** To the vendor. */
  readonly network: HttpNetwork;
}

/** The agent of all processes: its model is a vendor over the network, and its tools leave a trace outside. */
export function sceneAgent({ ledger, network }: SceneAgentOptions): Agent {
  const tool = (
    name: "pay" | "dare" | "look" | "again",
    effect: "pure" | "idempotent" | "effectful",
  ) =>
    defineTool({
      name,
      input: z.object({ key: z.string() }),
      effect,
      approve: name === "dare" ? "ask" : "allow",
      run: async ({ key }, { effectKey, append }) => {
        append("before ");
        await pause(150);
        const node = simulation().process.name;
        if (effect !== "pure") ledger.recordEffect({ tool: name, effectKey, node });
        append("after ");
        await pause(150);
        return `${name} ${key}`;
      },
    });
  return defineAgent({
    model: anthropic("claude-opus-5-5", {
      apiKey: "simulated",
      baseUrl: "https://vendor",
      fetch: network.fetch,
    }),
    tools: [
      tool("pay", "effectful"),
      tool("dare", "effectful"),
      tool("look", "pure"),
      tool("again", "idempotent"),
    ],
    limits: { repeats: 1_000, turns: 100_000 },
    warnings: false,
  });
}

async function pause(mostMs: number): Promise<void> {
  const ms = Math.random() * mostMs;
  await new Promise((resolve) => setTimeout(resolve, ms));
}
