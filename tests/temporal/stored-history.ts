/** What Temporal has stored of a session's workflow. */
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import type { temporal } from "@temporalio/proto";

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** One run of a workflow: from its start to its end, or to where it was continued as new. */
export interface StoredRun {
  readonly runId: string;
  readonly events: readonly HistoryEvent[];
  /** As Temporal counts it. */
  readonly bytes: number;
}

/** All runs of a chain, the oldest first. */
export async function storedRuns(
  client: Client,
  workflowId: string,
): Promise<readonly StoredRun[]> {
  const runs: StoredRun[] = [];
  const newest = await client.workflow.getHandle(workflowId).describe();
  let runId: string | undefined = newest.runId;
  while (runId !== undefined && runId !== "") {
    const run: StoredRun = await storedRun(client, workflowId, runId);
    runs.unshift(run);
    const started = run.events[0]?.workflowExecutionStartedEventAttributes;
    runId = started?.continuedExecutionRunId ?? undefined;
  }
  return runs;
}

async function storedRun(client: Client, workflowId: string, runId: string): Promise<StoredRun> {
  const handle = client.workflow.getHandle(workflowId, runId);
  const [{ events }, described] = await Promise.all([handle.fetchHistory(), handle.describe()]);
  return { runId, events: events ?? [], bytes: described.historySize ?? 0 };
}

/** An event as it is stored. */
export function encode(event: HistoryEvent): Buffer {
  return Buffer.from(proto.temporal.api.history.v1.HistoryEvent.encode(event).finish());
}

/** What a person reads beside an activity in Temporal's own screens. */
export function summaryOf({ userMetadata }: HistoryEvent): string | undefined {
  const data = userMetadata?.summary?.data;
  return data ? (JSON.parse(Buffer.from(data).toString()) as string) : undefined;
}
