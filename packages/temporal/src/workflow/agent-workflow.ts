import { CancellationScope, continueAsNew } from "@temporalio/workflow";
import type { WorkflowArgs } from "../names.ts";
import { openSession } from "./open-session.ts";
import { isLong } from "./workflow-session.ts";

/**
 * Drives one session until it has nothing to do. The next input starts the next workflow of the session.
 * Cancelled in Temporal, it stops the session's run, as a person would.
 */
export async function agentWorkflow(args: WorkflowArgs): Promise<void> {
  const session = openSession(args);
  let cancelled: { readonly error: unknown } | undefined;
  CancellationScope.current().cancelRequested.catch((error: unknown) => {
    cancelled = { error };
    void session.stop();
  });
  const atRest = async (): Promise<void> => {
    if (isLong()) await continueAsNew<typeof agentWorkflow>(args);
  };
  await CancellationScope.nonCancellable(() =>
    session.drive({ begins: ["reply", "respond", "compact", "execute"], atRest }),
  );
  if (cancelled !== undefined) throw cancelled.error;
}
