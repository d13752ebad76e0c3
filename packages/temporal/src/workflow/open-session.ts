import { ApplicationFailure, defineQuery, defineSignal, setHandler } from "@temporalio/workflow";
import type { QueryDefinition, SignalDefinition } from "@temporalio/workflow";
import { inputSignalName } from "../names.ts";
import type { WorkflowArgs } from "../names.ts";
import { WorkflowSession } from "./workflow-session.ts";
import type { SessionSummary } from "./workflow-session.ts";

/** Facts have come, up to this number. */
export const inputSignal: SignalDefinition<[number]> = defineSignal<[number]>(inputSignalName);
/** What the workflow knows of its session. One with several sessions is asked with a session's name. */
export const sessionQuery: QueryDefinition<SessionSummary | undefined, [string?]> = defineQuery<
  SessionSummary | undefined,
  [string?]
>("session");

const openKey = Symbol.for("millrace.openSessions");

/** The sessions of this workflow. Its global object is its own, while modules may be shared with others. */
function openSessions(): WorkflowSession[] {
  const own = globalThis as { [openKey]?: WorkflowSession[] };
  return (own[openKey] ??= []);
}

/**
 * Opens a session in this workflow, which may have several: signals and queries are answered from here on.
 * A session is opened once.
 */
export function openSession(args: WorkflowArgs): WorkflowSession {
  const sessions = openSessions();
  if (sessions.some((open) => open.args.uid === args.uid)) {
    const why = `session ${args.sessionId} is open in this workflow`;
    throw ApplicationFailure.nonRetryable(`${why}: use what openSession returned`);
  }
  const session = new WorkflowSession(args, sessions.length);
  sessions.push(session);
  // A number above the facts of a session costs one look.
  setHandler(inputSignal, (n) => sessions.forEach((open) => open.noteHead(n)));
  setHandler(sessionQuery, (sessionId) =>
    sessions
      .find((open) => sessionId === undefined || open.args.sessionId === sessionId)
      ?.summary(),
  );
  return session;
}
