// Starts the app: the built page, and the sessions of an agent. Without a variable it plays the demo.
import { fileURLToPath } from "node:url";
import { subAgents } from "../demo/agent.ts";
import { chooseAgent, modelsOf } from "./models.ts";
import { serveChat } from "./serve.ts";
import { openServices } from "./services.ts";

const choices = modelsOf(process.env);
const agent = chooseAgent(choices);
const services = await openServices(process.env, agent);
const chat = await serveChat({
  agent,
  config: { models: choices.map(({ id, name, window }) => ({ id, name, window })), subAgents },
  page: process.env["CHAT_PAGE"] ?? fileURLToPath(new URL("../../dist", import.meta.url)),
  port: Number(process.env["PORT"] ?? 5180),
  services: services.options,
});
console.log(chat.url);
console.log(`models: ${choices.map(({ name }) => name).join(", ")}`);
if (services.names.length > 0) console.log(`with ${services.names.join(", ")}`);

process.once("SIGTERM", () => {
  void chat[Symbol.asyncDispose]()
    .then(services.close)
    .then(() => process.exit(0));
});
