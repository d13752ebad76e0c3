import { MillraceError } from "@millrace/core";

/**
 * Throws inside a Temporal workflow. A session that is opened there would send its requests again in each
 * replay, and its text would have to stand in the history. Found out by the SDK's own global, so that this
 * package needs no SDK.
 */
export function refuseInWorkflow(): void {
  if (Reflect.get(globalThis, "__TEMPORAL_ACTIVATOR__") === undefined) return;
  const why = "an agent's session can't be opened inside a workflow";
  const instead = "call openSession and streamReply of @millrace/temporal/workflow";
  throw new MillraceError("invalid_definition", `${why}: ${instead}, or start agentWorkflow`);
}
