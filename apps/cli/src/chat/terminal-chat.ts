import { emitKeypressEvents } from "node:readline";
import type { Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import type { Clock } from "@millrace/core/ports";
import type { ChatSession, Past } from "../session/chat-session.ts";
import { Chat } from "./chat.ts";
import { edit, emptyLine, withText } from "../display/line-editor.ts";
import type { Key, Line } from "../display/line-editor.ts";
import { Screen } from "../display/screen.ts";
import { showPast } from "./past.ts";

/** What a chat at a terminal needs. */
export interface Interactive {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly clock: Clock;
  readonly session: ChatSession;
  /** From before the session was opened here. Left out: it is shown later. */
  readonly past?: Past | undefined;
  readonly interrupted: boolean;
  readonly greeting: string;
}

/** Draws at most this often, and always once more after the last change. */
const frameMs = 33;
const tickMs = 500;
/** An escape that nothing follows for so long is the key Esc, not the begin of another key's sequence. */
const escapeMs = 100;

/** A conversation with keys and a screen. `left` resolves when the user leaves. */
export class Terminal {
  readonly chat: Chat;
  readonly left: Promise<void>;
  readonly #options: Interactive;
  readonly #screen: Screen;
  readonly #leave: () => void;
  #line: Line = emptyLine;
  #savedLine: Line | undefined;
  #timer: NodeJS.Timeout | undefined;
  #paintedAt = 0;
  #closed = false;
  readonly #ticker: NodeJS.Timeout;

  constructor(options: Interactive) {
    this.#options = options;
    const { input, output, session, clock } = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.left = promise;
    this.#leave = resolve;
    const color = output.hasColors();
    this.#screen = new Screen(
      () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
      color,
    );
    this.chat = new Chat({
      session,
      output: this.#screen,
      display: { live: true, color },
      clock,
      changed: () => this.#changed(),
      setLine: (change) => this.#setLine(change),
      typed: () => this.#line.text !== "",
      leave: resolve,
    });
    this.chat.printer.note(options.greeting);
    showPast(this.chat.printer, options);
    this.chat.refresh();
    const timing: Partial<Interface> & { readonly escapeCodeTimeout: number } = {
      escapeCodeTimeout: escapeMs,
    };
    emitKeypressEvents(input, timing as Interface); // it reads nothing else of an interface
    input.on("keypress", this.#onKey);
    input.once("end", resolve);
    output.on("resize", this.#onResize);
    process.on("SIGCONT", this.#onContinue);
    this.#enterRaw();
    this.#ticker = setInterval(() => this.chat.isAnimated() && this.#changed(), tickMs);
    this.#paint();
  }

  /** Gives the terminal back as it was. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#ticker);
    clearTimeout(this.#timer);
    const { input, output } = this.#options;
    input.off("keypress", this.#onKey);
    output.off("resize", this.#onResize);
    process.off("SIGCONT", this.#onContinue);
    output.write(this.#screen.leave());
    this.#leaveRaw();
    input.pause();
  }

  readonly #onKey = (_text: string | undefined, key: Key): void => {
    const edited = edit(this.#line, key);
    this.#line = edited.line;
    switch (edited.done) {
      case undefined:
        break;
      case "enter":
        this.chat.enter(edited.typed);
        break;
      case "stop":
        this.chat.stop();
        break;
      case "interrupt":
        this.chat.interrupt();
        break;
      case "end":
        this.#leave();
        break;
      case "suspend":
        this.#suspend();
        return;
      case "redraw":
        this.#options.output.write("\u001b[H\u001b[2J");
        this.#screen.forget();
        break;
      default:
        edited satisfies never;
    }
    this.#changed();
  };

  readonly #onResize = (): void => this.#changed();

  readonly #onContinue = (): void => {
    if (this.#closed) return;
    this.#screen.forget();
    this.#enterRaw();
    this.#changed();
  };

  #setLine(change: "save" | "restore" | { readonly text: string }): void {
    if (change === "save") {
      // A line that was begun before a question came is no answer to it.
      this.#savedLine = this.#line;
      this.#line = withText(this.#line, "");
    } else if (change === "restore") {
      if (this.#savedLine !== undefined && this.#line.text === "") {
        this.#line = withText(this.#line, this.#savedLine.text);
      }
      this.#savedLine = undefined;
    } else this.#line = withText(this.#line, change.text);
  }

  #suspend(): void {
    this.#options.output.write(this.#screen.leave());
    this.#leaveRaw();
    process.kill(process.pid, "SIGTSTP");
    // Without a shell that could continue it, a process is not stopped: then it goes on by itself.
    setTimeout(this.#onContinue, 100);
  }

  /** With bracketed paste, so that pasted text differs from typed text. */
  #enterRaw(): void {
    this.#options.input.setRawMode(true);
    this.#options.input.resume();
    this.#options.output.write("\u001b[?2004h");
  }

  #leaveRaw(): void {
    this.#options.output.write("\u001b[?2004l");
    this.#options.input.setRawMode(false);
  }

  /** The first change is drawn at once, those that follow closely together. */
  #changed(): void {
    if (this.#closed || this.#timer !== undefined) return;
    const wait = Math.max(0, this.#paintedAt + frameMs - performance.now());
    this.#timer = setTimeout(() => this.#paint(), wait);
  }

  #paint(): void {
    this.#timer = undefined;
    if (this.#closed) return;
    this.#paintedAt = performance.now();
    const { chat } = this;
    const footer = { rows: chat.footer(), prompt: chat.prompt(), line: this.#line };
    this.#options.output.write(this.#screen.paint(footer));
  }
}
