import type { RunResult } from "@millrace/agent";
import { createNarrator, createTerminalText } from "@millrace/agent/terminal";
import type { Narration, RunEvent } from "@millrace/core";
import { explain, isSessionFailure } from "../session/open-session.ts";
import { NarrationPrinter } from "../display/narration-printer.ts";
import { createPlainOutput } from "../display/plain-output.ts";

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

  readonly observe = (event: RunEvent): void => this.show(this.#narrate(event), event.time);

  /** Prints what a message means. */
  readonly show = (narrations: readonly Narration[], time: number): void => {
    for (const narration of narrations) {
      // The prompt is known, and reasoning is not the answer.
      if (narration.type === "reasoning_delta") continue;
      if (narration.type === "item_committed" && narration.item.author === "user") continue;
      this.#notices.print(narration, time);
      if (this.#pipe.isTerminal) this.#text.print(narration, time);
    }
  };

  /** Writes what is left of the answer, and why there is none where no event shows it. */
  finish(result: RunResult, session: string): void {
    if (!this.#pipe.isTerminal && result.text !== "") {
      const safe = createTerminalText();
      const text = safe.write(result.text) + safe.end();
      this.#pipe.stdout(text.endsWith("\n") ? text : `${text}\n`);
    }
    if (result.outcome === "failed" && isSessionFailure(result.error.code)) {
      this.#pipe.stderr(`millrace: ${explain(result.error, session)}\n`);
    }
  }
}
