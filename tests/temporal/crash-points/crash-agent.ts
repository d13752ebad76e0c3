import { defineTool } from "@millrace/agent";
import type { Agent, Tool } from "@millrace/agent";
import { runProcess } from "@millrace/agent/process";
import { z } from "zod";
import { pacedAgent, pacedModel } from "../../kit/deployment/paced-agent.ts";
import type { PacedAgentOptions } from "../../kit/deployment/paced-agent.ts";
import type { Stations } from "./stations.ts";
import { watchModel } from "./watched-worker.ts";

/** The paced agent with stations in its model and its tools, a tool that starts a process, and a limited context. */
export function crashAgent(options: PacedAgentOptions, stations: Stations): Agent {
  const onEffect = ({ effectKey }: { readonly effectKey: string }): void =>
    stations.pass(uidOf(effectKey), "effect");
  const paced = pacedAgent({ ...options, onEffect });
  const child = defineTool({
    name: "child",
    input: z.object({ key: z.string() }),
    effect: "effectful",
    approve: "allow",
    run: async (_, { effectKey, append, signal }) => {
      const onOutput = ({ text }: { readonly text: string }): void => {
        append(text);
        stations.pass(uidOf(effectKey), "child");
      };
      const command = ["sh", "-c", "echo here; sleep 600"];
      const { ended } = await runProcess(command, { execution: effectKey, onOutput, signal });
      return ended;
    },
  });
  return paced.with({
    model: watchModel(pacedModel(options), stations),
    tools: [...(paced.tools as readonly Tool[]), child], // an agent has whole tools
    context: { window: 100_000, compactAbove: 0.5, keep: 0 },
  });
}

/** The session of an effect. */
function uidOf(effectKey: string): string {
  return effectKey.slice(0, effectKey.indexOf("_item"));
}
