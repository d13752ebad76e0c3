import { defineAgent, defineTool, narrateTo } from "@millrace/agent";
import { openai, openaiCompatible } from "@millrace/providers/openai";
const agent = defineAgent({ model: openai("gpt-5") });
agent.run("hi", { maxSteps: 5 });