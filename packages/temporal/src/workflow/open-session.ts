import { defineQuery, defineSignal, setHandler } from "@temporalio/workflow";
import type { QueryDefinition, SignalDefinition } from "@temporalio/workflow";
import { saidSignal } from "../names.ts";
import type { WorkflowArgs } from "../names.ts";
import { WorkflowSession } from "./workflow-session.ts";
import type { SessionSummary } from "./workflow-session.ts";

/** Facts have come, up to this number. */
export const said: SignalDefinition<[number]> = defineSignal<[number]>(saidSignal);
/** What the workflow knows of its session. */
export const sessionQuery: QueryDefinition<SessionSummary> = defineQuery<SessionSummary>("session");

/** Opens the session of this workflow: its signal and its query are answered from here on. */
export function openSession(args: WorkflowArgs): WorkflowSession {
  const session = new WorkflowSession(args);
  setHandler(said, (n) => session.hear(n));
  setHandler(sessionQuery, () => session.summary());
  return session;
}
