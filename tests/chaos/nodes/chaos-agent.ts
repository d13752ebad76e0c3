import type { Agent } from "@millrace/agent";
import { pacedAgent } from "../../kit/deployment/paced-agent.ts";
import type { PacedAgentOptions } from "../../kit/deployment/paced-agent.ts";

/** How often a web node sends a comment. A client gives a connection up after three of them. */
export const heartbeatMs = 1_000;

/** Fewer than a history has sessions, so that runs wait for each other's places. */
export const runsPerUser = 5;

/** The agent of a history: the paced one, with a sub-agent like it. */
export function chaosAgent(options: PacedAgentOptions): Agent {
  const description = "Does what it is asked";
  return pacedAgent(options, [pacedAgent(options).asTool({ name: "helper", description })]);
}
