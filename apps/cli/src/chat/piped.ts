import type { RunResult, Session } from "@millrace/agent";
import { createNarrator, createTerminalText, terminalLine } from "@millrace/agent/terminal";
import type { RunEvent, ViewApproval } from "@millrace/core";
import { explain, isSessionFailure } from "../session/open-session.ts";
import { createPlainOutput } from "../display/screen.ts";
import { NarrationPrinter } from "../display/narration-printer.ts";

/** Exit codes by the outcome of the run. */
export const exitCodes = { completed: 0, failed: 1, limited: 1, usage: 2, aborted: 130 } as const;

/** Returns an observer that denies every question, since there is no user to answer. */
export function denyQuestions(session: () => Session | undefined): (event: RunEvent) => void {
  return (event) => {
    if (event.type === "approval_requested" || event.type === "run_started") denyOpen(session());
  };
}

/** Answers the questions that are open, such as those of a session that is taken up again. */
function denyOpen(session: Session | undefined): void {
  for (const { id } of (session?.approvals ?? []) as readonly ViewApproval[]) {
    session?.deny(id, "there is nobody to ask");
  }
}

export interface Pipe {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Whether stdout is a terminal: text is then written as it comes. */
  readonly isTerminal: boolean;
}

/**
 * One prompt, and its answer on stdout; everything else goes to stderr. On a terminal, text is written
 * as it comes. Into a pipe it is written once it is whole, since the text of a failed attempt could not
 * be taken back.
 */
export class OneAnswer {
  readonly #pipe: Pipe;
  readonly #notices: NarrationPrinter;
  readonly #text: NarrationPrinter;
  readonly #narrate = createNarrator();

  constructor(pipe: Pipe) {
    this.#pipe = pipe;
    const silent = (): void => undefined;
    const notices = createPlainOutput(pipe.stderr);
    const text = createPlainOutput(pipe.stdout);
    const display = { live: false, color: false };
    this.#notices = new NarrationPrinter({ ...notices, text: silent, endText: silent }, display);
    this.#text = new NarrationPrinter(
      { ...text, line: () => text.endText(), verbatim: silent },
      display,
    );
  }

  readonly observe = (event: RunEvent): void => {
    for (const narration of this.#narrate(event)) {
      // The prompt is known, and reasoning is not the answer.
      if (narration.type === "reasoning_delta") continue;
      if (narration.type === "item_committed" && narration.item.author === "user") continue;
      this.#notices.print(narration, event.time);
      if (this.#pipe.isTerminal) this.#text.print(narration, event.time);
    }
  };

  /** Sends the prompt, writes the answer, and returns the exit code. */
  async ask(session: Session, prompt: string, signal: AbortSignal): Promise<number> {
    denyOpen(session);
    await recovered(session, signal);
    const result: RunResult = await session.send(prompt, { signal }).result;
    if (!this.#pipe.isTerminal && result.text !== "") {
      const safe = createTerminalText();
      const text = safe.write(result.text) + safe.end();
      this.#pipe.stdout(text.endsWith("\n") ? text : `${text}\n`);
    }
    if (result.outcome === "failed" && isSessionFailure(result.error.code)) {
      this.#pipe.stderr(`millrace: ${explain(result.error, session.id)}\n`);
    }
    return exitCodes[result.outcome];
  }
}

/** One prompt for each line; a run for each, one after the other. Gives the exit code of the worst. */
export async function askEach(
  session: Session,
  lines: () => AsyncIterable<string>,
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
async function recovered(session: Session, signal: AbortSignal): Promise<number> {
  const { run } = session;
  if (run === undefined) return exitCodes.completed;
  const stop = (): void => void run.abort("stopped by the user");
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const { outcome } = await run.result;
  signal.removeEventListener("abort", stop);
  return exitCodes[outcome];
}
