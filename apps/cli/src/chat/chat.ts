import type { Sent } from "@millrace/agent";
import { createNarrator, terminalLine, withoutNoticeMark } from "@millrace/agent/terminal";
import type { Item, Narration, RunEvent, ViewApproval } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import { commandHelp } from "../command/help.ts";
import type { ChatConnection, ChatRun, ChatSession } from "../session/chat-session.ts";
import { explain, isSessionFailure } from "../session/open-session.ts";
import type { TextStyle, TextOutput } from "../display/text-output.ts";
import { readAnswer, readLine } from "./typed-line.ts";
import type { Typed } from "./typed-line.ts";
import { NarrationPrinter } from "../display/narration-printer.ts";
import type { PrinterOptions } from "../display/narration-printer.ts";
import { printQuestion } from "../display/print-question.ts";

/** The terminal or plain output that a chat runs in. */
export interface ChatHost {
  readonly session: ChatSession;
  readonly output: TextOutput;
  readonly display: PrinterOptions;
  readonly clock: Clock;
  /** Called after each change that is visible. */
  readonly changed: () => void;
  /** Sets the line being typed, or saves it for the time of a question and restores it. */
  readonly setLine: (change: "save" | "restore" | { readonly text: string }) => void;
  /** Whether the line being typed is not empty. */
  readonly typed: () => boolean;
  readonly leave: () => void;
}

const shownQueue = 3;

/** The row for a server or a store that is away. What is sent meanwhile waits here. */
const awayRows: Readonly<Record<ChatConnection, string | undefined>> = {
  live: undefined,
  polling: undefined,
  waiting: "  the store is away …",
  connecting: "  connecting …",
  reconnecting: "  reconnecting …  what you send waits",
  offline: "  not connected",
};

/**
 * A conversation in a terminal: sends typed lines as inputs and prints the session's events. It does
 * not depend on keys or a screen.
 */
export class Chat {
  readonly printer: NarrationPrinter;
  readonly #host: ChatHost;
  readonly #narrate = createNarrator();
  #session: ChatSession;
  /** The run that was sent last, until it is over; it may not have begun. */
  #sent: ChatRun | undefined;
  #asked: ViewApproval | undefined;
  #queue: ChatSession["queue"] = [];
  #status: ChatSession["status"];
  #stopping = false;
  #interruptedAt: number | undefined;

  constructor(host: ChatHost) {
    this.#host = host;
    this.#session = host.session;
    this.#status = host.session.status;
    this.printer = new NarrationPrinter(host.output, host.display);
  }

  get session(): ChatSession {
    return this.#session;
  }

  /** The prompt before the line being typed: it shows what Enter does now. */
  prompt(): string {
    if (this.#asked !== undefined) return "allow? y/n > ";
    return this.#status === "idle" ? "> " : "steer > ";
  }

  /** The rows below the text: running tools, queued inputs and the state of the run. */
  footer(): readonly { readonly text: string; readonly style: TextStyle }[] {
    const now = this.#host.clock.now();
    const tools = this.printer.tools(now).map((text) => ({ text, style: "note" as const }));
    const waits = this.#queue.slice(0, shownQueue).map(({ text }, at) => ({
      text: `  waits ${at + 1}: ${withoutNoticeMark(terminalLine(text))}`,
      style: "dim" as const,
    }));
    const more = this.#queue.length - waits.length;
    const rest = more > 0 ? [{ text: `  and ${more} more: /queue`, style: "dim" as const }] : [];
    const state = this.#stopping ? "  stopping …  Ctrl-C again leaves" : "  working …  Esc stops";
    const working = this.#status === "running" ? [{ text: state, style: "dim" as const }] : [];
    const text = awayRows[this.#session.connection];
    const away = text === undefined ? [] : [{ text, style: "bad" as const }];
    return [...tools, ...waits, ...rest, ...working, ...away];
  }

  /** Whether the footer changes without an event: the time of a running tool does. */
  isAnimated(): boolean {
    return this.printer.tools(0).length > 0;
  }

  observe(event: RunEvent): void {
    if (event.sessionId !== this.#session.id) return;
    this.show(this.#narrate(event), event.time, "n" in event);
  }

  /** Prints what a message means. */
  show(narrations: readonly Narration[], time: number, isFact: boolean): void {
    for (const narration of narrations) this.printer.print(narration, time);
    // A view costs by the length of the session, and only facts change what is read from it here.
    if (isFact) this.refresh();
    this.#host.changed();
  }

  /** Something has changed of which there is no event: what waits to be sent, or the connection. */
  update(): void {
    this.refresh();
    this.#host.changed();
  }

  /** Reads the session's state, and shows a question that was not shown yet. */
  refresh(): void {
    const { status, stopping, queue, approvals } = this.#session;
    this.#status = status;
    this.#stopping = stopping;
    this.#queue = queue;
    const [first] = approvals as readonly ViewApproval[];
    if (first?.id === this.#asked?.id) return;
    const before = this.#asked;
    this.#asked = first;
    if (before === undefined) this.#host.setLine("save");
    if (first === undefined) this.#host.setLine("restore");
    else printQuestion(first, { printer: this.printer, output: this.#host.output });
  }

  /** A line was typed. */
  enter(line: string): void {
    const typed = readLine(line);
    if (typed.kind === "nothing") return;
    if (this.#asked !== undefined && typed.kind === "prompt") this.#answer(this.#asked, typed.text);
    else this.#run(typed);
    this.#host.changed();
  }

  /** Sends the prompt that the chat begins with, as it is: it is neither a command nor an answer. */
  begin(prompt: string): void {
    this.#run({ kind: "prompt", text: prompt });
    this.#host.changed();
  }

  /** Esc: stops a run and keeps what came. Without a run it does nothing, and it never leaves. */
  stop(): void {
    if (this.#isRunning()) this.#abort();
    this.#host.changed();
  }

  /** Ctrl-C, from the keyboard or as a signal. */
  interrupt(): Interruption {
    const time = this.#host.clock.now();
    const decided = interrupt({
      time,
      last: this.#interruptedAt,
      running: this.#isRunning(),
      typed: this.#host.typed(),
    });
    this.#interruptedAt = time;
    if (decided === "leave") this.#host.leave();
    else if (decided === "clear") this.#host.setLine({ text: "" });
    else this.#abort();
    this.#host.changed();
    return decided;
  }

  #isRunning(): boolean {
    return this.#session.status !== "idle" || this.#sent !== undefined;
  }

  #abort(): void {
    const reason = "stopped by the user";
    const run = this.#session.run ?? this.#sent;
    void this.#check(run === undefined ? this.#session.abort(reason) : run.abort(reason));
    // Where rows can be redrawn, the footer shows it. A notice would break the text that is still coming.
    if (!this.#host.display.live) this.printer.note("stopping; Ctrl-C again leaves", "dim");
  }

  #answer({ id, hash }: ViewApproval, text: string): void {
    const answer = readAnswer(text);
    if (answer.answer === "unclear") {
      return this.printer.note("please answer y or n; n may be followed by a reason", "ask");
    }
    const session = this.#session;
    if (answer.answer === "allow") return void this.#check(session.allow(id, { hash }));
    return void this.#check(session.deny(id, answer.reason));
  }

  #run(typed: Typed): void {
    const session = this.#session;
    // What waits while nothing runs is left from a run that was stopped, and goes with the next prompt.
    const idle = session.status === "idle" && this.#sent === undefined;
    switch (typed.kind) {
      case "nothing":
        return;
      case "unknown":
        return this.printer.note(withoutNoticeMark(terminalLine(typed.problem)), "bad");
      case "prompt":
        return void (idle ? this.#send(typed.text) : this.#check(session.steer(typed.text)));
      case "follow_up":
        return void (idle ? this.#send(typed.text) : this.#check(session.followUp(typed.text)));
      case "queue":
        return this.#showQueue();
      case "back":
        return void this.#takeBack(typed.place);
      case "fork":
        return void this.#fork();
      case "usage":
        return this.#showUsage();
      case "help":
        for (const line of commandHelp) this.printer.note(line);
        return;
      case "quit":
        return this.#host.leave();
      default:
        typed satisfies never;
    }
  }

  /** Events show how a run ends. Only a prompt that is refused has none, so its error is shown here. */
  async #send(text: string): Promise<void> {
    const session = this.#session;
    const run = session.send(text);
    this.#sent = run;
    const result = await run.result;
    if (this.#sent === run) this.#sent = undefined;
    if (result.outcome === "failed" && isSessionFailure(result.error.code)) {
      this.printer.note(explain(result.error, session.id), "bad");
    }
    this.update();
  }

  /** Shows the error of an input that is not accepted. */
  async #check({ accepted }: Sent): Promise<boolean> {
    const answer = await accepted;
    if (!answer.accepted) this.printer.note(explain(answer.error, this.#session.id), "bad");
    this.#host.changed();
    return answer.accepted;
  }

  #showQueue(): void {
    const { queue } = this.#session;
    if (queue.length === 0) this.printer.note("nothing waits");
    for (const [at, { kind, text }] of queue.entries()) {
      const sort = kind === "follow_up" ? "follow-up" : kind;
      this.printer.note(`${at + 1}. (${sort}) ${withoutNoticeMark(terminalLine(text))}`);
    }
  }

  async #takeBack(place: number): Promise<void> {
    const queued = this.#session.queue[place - 1];
    if (queued === undefined) return this.printer.note(`nothing waits at ${place}`, "bad");
    if (!(await this.#check(this.#session.takeBack(queued.id)))) return;
    this.printer.note(`taken back: ${withoutNoticeMark(terminalLine(queued.text))}`);
    if (!this.#host.typed()) this.#host.setLine({ text: queued.text });
    this.#host.changed();
  }

  async #fork(): Promise<void> {
    const last = (this.#session.transcript as readonly Item[]).at(-1);
    if (last === undefined) return this.printer.note("there is nothing to fork yet", "bad");
    if (this.#session.status !== "idle") {
      return this.printer.note("a run is on: stop it first, or wait", "bad");
    }
    const old = this.#session;
    try {
      this.#session = await old.fork(last.id);
      await old.close();
      this.printer.note(
        `this is ${terminalLine(this.#session.id)} now, a copy of ${terminalLine(old.id)}`,
      );
    } catch (error) {
      this.printer.note(`not forked: ${terminalLine(String(error))}`, "bad");
    }
    this.update();
  }

  #showUsage(): void {
    const { inputTokens, outputTokens, cachedTokens, cost } = this.#session.usage;
    const price = cost === undefined ? "cost unknown" : `$${cost.toFixed(4)}`;
    this.printer.note(
      `${inputTokens} tokens in (${cachedTokens} cached), ${outputTokens} out, ${price}`,
    );
  }
}

/** What Ctrl-C does. */
type Interruption = "abort" | "clear" | "leave";

/** Twice within this long leaves, whatever is going on. */
const twiceMs = 2_000;

/**
 * Decides what Ctrl-C means now: it stops a run, clears a line that was begun, and otherwise leaves.
 * `last` is when it was pressed before.
 */
export function interrupt(now: {
  readonly time: number;
  readonly last: number | undefined;
  readonly running: boolean;
  readonly typed: boolean;
}): Interruption {
  const { time, last, running, typed } = now;
  if (last !== undefined && time - last < twiceMs) return "leave";
  if (running) return "abort";
  return typed ? "clear" : "leave";
}
