import { defineAgent, defineTool, narrateTo } from "@millrace/agent";
import { openai, openaiCompatible } from "@millrace/providers/openai";
import { createServer } from "node:http";
const vendor = createServer((_, response) => response.writeHead(404).end("Not found"));
await new Promise((done) => vendor.listen(0, "127.0.0.1", done));
vendor.unref();
const baseUrl = "http://127.0.0.1:" + vendor.address().port + "/v1";
const agent = defineAgent({ model: openaiCompatible("llama", { baseUrl }) });
for await (const text of agent.run("hi").textStream()) process.stdout.write(text);