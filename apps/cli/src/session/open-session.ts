import { userInfo } from "node:os";
import type { Agent, Session } from "@millrace/agent";
import { MillraceError } from "@millrace/core";
import type { Actor } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import type { Metadata } from "@millrace/core/writing";
import type { FileStore } from "@millrace/stores/file";
import { terminalLine } from "@millrace/agent/terminal";
import type { ChatOptions } from "../command/arguments.ts";

export type Opened =
  | {
      readonly opened: true;
      readonly session: Session;
      /** Whether this call made it. */
      readonly fresh: boolean;
      /** Whether a process ended in the middle of a run; opening the session resumes it. */
      readonly interrupted: boolean;
    }
  | { readonly opened: false; readonly problem: string };

/** The session that the command line names, if it is there. */
export type Named =
  | { readonly named: true; readonly record: SessionRecord | undefined }
  | { readonly named: false; readonly problem: string };

/** Looks up the session that was asked for. One that is to be resumed has to be there. */
export async function findSession(
  store: FileStore,
  { session: wanted, resume }: Pick<ChatOptions, "session" | "resume">,
): Promise<Named> {
  if (wanted === undefined) return { named: true, record: undefined };
  try {
    const record = await store.find(wanted);
    if (record !== undefined || !resume) return { named: true, record };
    const problem = `there is no session ${terminalLine(wanted)}: millrace --list shows them`;
    return { named: false, problem };
  } catch (error) {
    if (!MillraceError.is(error)) throw error;
    return { named: false, problem: explain(error, wanted) };
  }
}

/** Opens a session, or makes it, and makes sure that no other process writes it. */
export async function openSession(
  agent: Agent,
  store: FileStore,
  {
    name,
    record,
    metadata,
  }: {
    readonly name: string;
    readonly record: SessionRecord | undefined;
    readonly metadata: Metadata;
  },
): Promise<Opened> {
  try {
    const session = await agent.open({ id: name, store, metadata, actor: currentUser() });
    const interrupted = session.run !== undefined;
    const refusal = await takeLock(session);
    if (refusal === undefined)
      return { opened: true, session, fresh: record === undefined, interrupted };
    await session.close();
    return refused(explain(refusal, name));
  } catch (error) {
    if (!MillraceError.is(error)) throw error;
    return refused(explain(error, name));
  }
}

/** The user of the system who runs the command, as the actor of what is sent and decided. */
function currentUser(): Actor {
  const via = "terminal";
  try {
    return { user: userInfo().username, via };
  } catch {
    return { user: `uid ${process.getuid?.() ?? "unknown"}`, via }; // a uid without an account
  }
}

function refused(problem: string): Opened {
  return { opened: false, problem };
}

/**
 * Opening only reads. The lock is taken by the first thing that is sent, so something is sent that
 * changes nothing: it takes back an input that was never there.
 */
async function takeLock(session: Session): Promise<MillraceError | undefined> {
  const answer = await session.takeBack("nothing").accepted;
  return answer.accepted || answer.error.code === "refused" ? undefined : answer.error;
}

/** Explains why a session can't be used, and what the user can do about it. */
export function explain({ code, message }: MillraceError, name: string): string {
  const id = terminalLine(name);
  switch (code) {
    case "session_locked":
      return `the session ${id} is open in another process: leave it there first, or begin another one (${code})`;
    case "corrupt_session":
      return `the file of the session ${id} is damaged and was left as it is (${code})\n${terminalLine(message, 400)}`;
    default:
      return `${terminalLine(message, 400)} (${code})`;
  }
}

/** Whether a failure is one of the session itself, of which there is no event. */
export function isSessionFailure(code: string): boolean {
  return ["session_locked", "corrupt_session", "broken_port", "closed", "refused"].includes(code);
}
