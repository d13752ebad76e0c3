import "./demo-pace.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "@millrace/agent";
import { agentWith, demoModels } from "../../../apps/chat/src/demo/agent.ts";
import { pace } from "../../../apps/chat/src/demo/pace.ts";
import { createHolds } from "../../kit/holds.ts";
import type { Holds } from "../../kit/holds.ts";

/** The demo's agent, and what holds it: at a text that it writes, and at each step of a tool by the tool's name. */
export interface HeldDemo {
  readonly agent: Agent;
  readonly holds: Holds;
}

/** Makes the agent that plays the demo's script. */
export function createHeldDemo(): HeldDemo {
  const holds = createHolds();
  const agent = agentWith(holds.holdable(demoModels.own), {
    colleague: holds.holdable(demoModels.colleague),
    pause: async (tool, ms, signal) => {
      await holds.pass(tool, signal);
      await sleep(ms * pace, undefined, { signal });
    },
  });
  return { agent, holds };
}
