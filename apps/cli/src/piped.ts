import type { RunResult, Session } from "@millrace/agent";
import { createNarrator, createTerminalText, terminalLine } from "@millrace/agent";
import type { RunEvent, ViewApproval } from "@millrace/core";
import { explain, isOurs } from "./open-session.ts";
import { createPlainPaper } from "./screen.ts";
import { Story } from "./story.ts";

/** What the shell is told of how it went. */
export const exitCodes = { completed: 0, failed: 1, limited: 1, usage: 2, aborted: 130 } as const;

/** Nobody can be asked, so whatever asks is told no. Gives what an observer has to call. */
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
  /** Whether somebody reads along, so that text is shown as it comes. */
  readonly watched: boolean;
}

/**
 * One prompt, and its answer on stdout; everything else goes to stderr. Where somebody watches, text
 * is shown as it comes. Into a pipe it goes once it is whole, since text of an attempt that failed
 * could not be taken back.
 */
export class OneAnswer {
  readonly #pipe: Pipe;
  readonly #notices: Story;
  readonly #text: Story;
  readonly #narrate = createNarrator();

  constructor(pipe: Pipe) {
    this.#pipe = pipe;
    const silent = (): void => undefined;
    const notices = createPlainPaper(pipe.stderr);
    const text = createPlainPaper(pipe.stdout);
    const look = { live: false, color: false };
    this.#notices = new Story({ ...notices, text: silent, endText: silent }, look);
    this.#text = new Story({ ...text, line: () => text.endText(), verbatim: silent }, look);
  }

  readonly observe = (event: RunEvent): void => {
    for (const told of this.#narrate(event)) {
      // The prompt is known, and reasoning is not the answer.
      if (told.type === "reasoning_delta") continue;
      if (told.type === "item_committed" && told.item.author === "user") continue;
      this.#notices.tell(told, event.time);
      if (this.#pipe.watched) this.#text.tell(told, event.time);
    }
  };

  /** Sends the prompt and writes the answer. The exit code says how it went. */
  async ask(session: Session, prompt: string, signal: AbortSignal): Promise<number> {
    denyOpen(session);
    await recovered(session, signal);
    const result: RunResult = await session.send(prompt, { signal }).result;
    if (!this.#pipe.watched && result.text !== "") {
      const safe = createTerminalText();
      const text = safe.write(result.text) + safe.end();
      this.#pipe.stdout(text.endsWith("\n") ? text : `${text}\n`);
    }
    if (result.outcome === "failed" && isOurs(result.error.code)) {
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

/** Waits for the run that a process left behind, if there is one. */
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
