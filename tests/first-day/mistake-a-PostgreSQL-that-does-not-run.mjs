import { defineAgent, defineTool, narrateTo } from "@millrace/agent";
import { openai, openaiCompatible } from "@millrace/providers/openai";
import { postgresStore } from "@millrace/stores/postgres";
const agent = defineAgent({ model: openai("gpt-5") });
const store = postgresStore({ url: "postgres://me:secret@127.0.0.1:9/app" });
await agent.open({ store, log: undefined });
