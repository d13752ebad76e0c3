import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { z } from "zod";

/** How often the tool that needs an approval has run in this process. */
export const paid = { times: 0 };

/**
 * An agent whose first reply asks for an approval and for a client's answer at once. A process that
 * takes over begins with the second.
 */
export function waitingAgent(replies: "both" | "second" = "both"): Agent {
  const pay = defineTool({
    name: "pay",
    input: z.object({}),
    approve: "ask",
    run: () => `paid ${(paid.times += 1)}`,
  });
  const pick = defineTool({
    name: "pick",
    input: z.object({}),
    output: z.object({ colour: z.string() }),
    run: "client",
  });
  const first = [call("pay", {}), call("pick", {})];
  const second = [say("all done")];
  const model = scriptedModel(replies === "both" ? [first, second] : [second]);
  return defineAgent({ model, tools: [pay, pick], limits: { seconds: 1e9 } });
}
