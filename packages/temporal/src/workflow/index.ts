// For files of workflows: nothing here uses Node, and no content passes through it.
export { agentWorkflow } from "./agent-workflow.ts";
export { openSession, inputSignal, sessionQuery } from "./open-session.ts";
export { executeTools, runAgent, streamReply, waitForInput } from "./own-workflows.ts";
export type { LastReply } from "./session-loop.ts";
export type { SessionSummary, WorkflowSession } from "./workflow-session.ts";
export type { WorkflowArgs } from "../names.ts";
