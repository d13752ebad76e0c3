import { createInterface } from "node:readline";
import type { Interface } from "node:readline";
import { Chat } from "./chat.ts";
import type { Interactive } from "./terminal-chat.ts";
import { showPast } from "./past.ts";
import { createPlainOutput } from "../display/plain-output.ts";

/** A conversation where the output can't be redrawn: into a file or a pipe, or on a dumb terminal. */
export class PlainChat {
  readonly chat: Chat;
  readonly left: Promise<void>;
  readonly #lines: Interface;

  constructor({ input, output, session, past, clock, greeting, interrupted }: Interactive) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.left = promise;
    this.chat = new Chat({
      session,
      output: createPlainOutput((text) => void output.write(text)),
      display: { live: false, color: false },
      clock,
      changed: () => undefined,
      setLine: () => undefined,
      typed: () => false,
      leave: resolve,
    });
    this.chat.printer.note(greeting);
    showPast(this.chat.printer, { past, interrupted });
    this.chat.refresh();
    this.#lines = createInterface({ input, terminal: false });
    this.#lines.on("line", (line) => this.chat.enter(line));
    this.#lines.once("close", resolve);
  }

  close(): void {
    this.#lines.close();
  }
}
