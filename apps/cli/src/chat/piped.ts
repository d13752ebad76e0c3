import type { RunResult } from "@millrace/agent";
import { terminalLine } from "@millrace/agent/terminal";
import type { RunEvent, ViewApproval } from "@millrace/core";
import type { ChatSession } from "../session/chat-session.ts";
import { exitCodes } from "../command/exit-codes.ts";

/** Returns an observer that denies every question, since there is no user to answer. */
export function denyQuestions(session: () => ChatSession | undefined): (event: RunEvent) => void {
  return (event) => {
    if (event.type === "approval_requested" || event.type === "run_started") denyOpen(session());
  };
}

/** Answers the questions that are open, such as those of a session that is taken up again. */
export function denyOpen(session: ChatSession | undefined): void {
  for (const { id } of (session?.approvals ?? []) as readonly ViewApproval[]) {
    session?.deny(id, "there is nobody to ask");
  }
}

/** Sends one prompt, after the run that opening the session resumed, and gives its result. */
export async function askOnce(
  session: ChatSession,
  prompt: string,
  signal: AbortSignal,
): Promise<RunResult> {
  denyOpen(session);
  await recovered(session, signal);
  return await session.send(prompt, { signal }).result;
}

/** One prompt for each line; a run for each, one after the other. Gives the exit code of the worst. */
export async function askEach(
  session: ChatSession,
  lines: () => AsyncIterable<string> | readonly string[],
  { signal, stderr }: { readonly signal: AbortSignal; readonly stderr: (text: string) => void },
): Promise<number> {
  denyOpen(session);
  const codes: number[] = [await recovered(session, signal)];
  for await (const line of lines()) {
    if (line.trim() === "") continue;
    const result = await session.send(line, { signal }).result;
    codes.push(exitCodes[result.outcome]);
    if (result.outcome === "failed") {
      stderr(`millrace: ${terminalLine(result.error.message, 400)}\n`);
    }
    if (result.outcome === "aborted") break;
  }
  return Math.max(...codes);
}

/** Waits for the run that opening the session resumed, if there is one. */
async function recovered(session: ChatSession, signal: AbortSignal): Promise<number> {
  const { run } = session;
  if (run === undefined) return exitCodes.completed;
  const stop = (): void => void run.abort("stopped by the user");
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const { outcome } = await run.result;
  signal.removeEventListener("abort", stop);
  return exitCodes[outcome];
}
