// Begins a session with a question, and the workflow that answers it. Who watches the session sees each word.
import { postgresStore } from "@millrace/stores/postgres";
import { sessionMemo } from "@millrace/temporal/plugin";
import { Client, Connection } from "@temporalio/client";
import type { travel } from "./workflows.ts";

const address = process.env["TEMPORAL_ADDRESS"] ?? "127.0.0.1:7233";
await using store = postgresStore(); // DATABASE_URL
const client = new Client({ connection: await Connection.connect({ address }) });

// #region start
const session = await store.create({ sessionId: "trip-by-agents" });
const answer = await client.workflow.execute<typeof travel>("travel", {
  workflowId: "trip-by-agents",
  taskQueue: "agents",
  args: ["What do I pack for Oslo?"],
  memo: sessionMemo(session), // all that the workflow is told of the session
});
// #endregion
console.log(answer);
await client.connection.close();
