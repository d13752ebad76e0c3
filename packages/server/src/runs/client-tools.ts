import type { SessionRecord } from "@millrace/core/ports";
import { infoOf } from "./run-host.ts";
import type { ServedAgent } from "./run-host.ts";

/** The names of the tools that clients of a session carry out. */
export type ClientTools = (session: SessionRecord) => Promise<ReadonlySet<string>>;

/** Those of the agent that the session has. */
export function clientToolsOf(served: ServedAgent): ClientTools {
  return async (session) => {
    const agent = typeof served === "function" ? await served(infoOf(session)) : served;
    const clients = agent.tools.filter((tool) => "run" in tool && tool.run === "client");
    return new Set(clients.map(({ name }) => name));
  };
}
