// A worker with Temporal's plug-in for the OpenAI Agents SDK, and with ours beside it.
import { fileURLToPath } from "node:url";
import { openaiAgentsProvider } from "@millrace/bridges/openai-agents";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { sessionPlugin, throughSession } from "@millrace/temporal/plugin";
import { OpenAIAgentsPlugin } from "@temporalio/openai-agents";
import { NativeConnection, Worker } from "@temporalio/worker";
import { model } from "./model.ts";

const address = process.env["TEMPORAL_ADDRESS"] ?? "127.0.0.1:7233";
await using store = postgresStore(); // DATABASE_URL
await using log = redisLog(); // REDIS_URL

// #region worker
const modelProvider = openaiAgentsProvider(() => throughSession(model));
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue: "agents",
  workflowsPath: fileURLToPath(new URL("./workflows.ts", import.meta.url)),
  plugins: [new OpenAIAgentsPlugin({ modelProvider }), sessionPlugin({ store, log })],
});
// #endregion
console.log("ready");
await worker.run();
