import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { createHttpModel } from "@millrace/conformance/http";
import { z } from "zod";

/** The agent of the HTTP suite: its model, and the tools that `httpTools` describes. */
export function createSuiteAgent(): Agent {
  const refund = defineTool({
    name: "refund",
    description: "Gives money back",
    input: z.object({ order: z.string(), cents: z.number() }),
    approve: "ask",
    run: () => "refunded",
  });
  const note = defineTool({
    name: "note",
    description: "Repeats a text",
    input: z.object({ text: z.string() }),
    run: ({ text }) => text,
  });
  const broken = defineTool({
    name: "broken",
    description: "Throws",
    input: z.object({ message: z.string() }),
    run: ({ message }): string => {
      throw new Error(message);
    },
  });
  const locate = defineTool({
    name: "locate",
    description: "Where the person is",
    input: z.object({}),
    output: z.object({ city: z.string() }),
    run: "client",
  });
  const model = createHttpModel();
  const own = [refund, note, broken, locate];
  const packer = defineAgent({ model, tools: own }).asTool({
    name: "packer",
    description: "Packs a suitcase",
  });
  return defineAgent({ model, tools: [...own, packer] });
}
