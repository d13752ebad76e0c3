import { createServer } from "node:http";
import { defineAgent, defineTool } from "@millrace/agent";
import { anthropic } from "@millrace/providers/anthropic";
import { createMillrace } from "@millrace/server";
import { fileStore } from "@millrace/stores/file";
import { z } from "zod";
import { demo, pay } from "./demo.ts"; // a scripted model, and a payment that prints a line

const refund = defineTool({
  name: "refund",
  description: "Gives a customer's money back",
  input: z.object({ order: z.string(), cents: z.int() }),
  approve: ({ cents }) => (cents > 5_000 ? "ask" : "allow"), // large refunds wait for a person
  run: ({ order, cents }) => pay(order, cents),
});

const model = process.env["ANTHROPIC_API_KEY"] ? anthropic("claude-sonnet-5") : demo;
const agent = defineAgent({ model, instructions: "You are a support agent.", tools: [refund] });
const millrace = createMillrace({ agent, store: fileStore("./sessions") });
createServer(millrace.node).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
