import { Client, Connection } from "@temporalio/client";

/** The events of the last workflow of a session, one line each, and what it waits for. For people who look for a cause. */
export async function workflowEvents(address: string, uid: string): Promise<readonly string[]> {
  const connection = await Connection.connect({ address });
  try {
    const handle = new Client({ connection }).workflow.getHandle(`session:${uid}`);
    const { raw } = await handle.describe();
    const pending = (raw.pendingActivities ?? []).map((one) => `pending ${JSON.stringify(one)}`);
    const task = `workflow task ${JSON.stringify(raw.pendingWorkflowTask ?? "none")}`;
    const { events } = await handle.fetchHistory();
    return [...(events ?? []).map((event) => JSON.stringify(event)), ...pending, task];
  } catch (error) {
    return [String(error)];
  } finally {
    await connection.close();
  }
}
