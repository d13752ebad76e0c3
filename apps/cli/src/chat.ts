import type { Run, Sent, Session } from "@millrace/agent";
import { createNarrator, terminalLine } from "@millrace/agent";
import type { Item, RunEvent, ViewApproval } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import { commandHelp } from "./help.ts";
import { interrupt } from "./interrupt.ts";
import type { Interruption } from "./interrupt.ts";
import { explain, isOurs } from "./open-session.ts";
import { withoutMark } from "./paper.ts";
import type { Ink, Paper } from "./paper.ts";
import { showInput } from "./question.ts";
import { readAnswer, readLine } from "./slash.ts";
import type { Typed } from "./slash.ts";
import { Story } from "./story.ts";
import type { StoryOptions } from "./story.ts";

export interface ChatHost {
  readonly session: Session;
  readonly paper: Paper;
  readonly look: StoryOptions;
  readonly clock: Clock;
  /** Something has changed that can be seen. */
  readonly changed: () => void;
  /** Puts a text into the line being typed, or takes the line away for a question and back. */
  readonly setLine: (change: "set_aside" | "bring_back" | { readonly text: string }) => void;
  /** Whether there is something in the line. */
  readonly typed: () => boolean;
  readonly leave: () => void;
}

const shownQueue = 3;

/**
 * A conversation in a terminal: what is typed becomes inputs, what happens becomes a story. It knows
 * neither keys nor the screen.
 */
export class Chat {
  readonly story: Story;
  readonly #host: ChatHost;
  readonly #narrate = createNarrator();
  #session: Session;
  /** The run that was sent last, until it is over; it may not have begun. */
  #sent: Run | undefined;
  #asked: ViewApproval | undefined;
  #queue: Session["queue"] = [];
  #status: Session["status"];
  #stopping = false;
  #interruptedAt: number | undefined;

  constructor(host: ChatHost) {
    this.#host = host;
    this.#session = host.session;
    this.#status = host.session.status;
    this.story = new Story(host.paper, host.look);
  }

  get session(): Session {
    return this.#session;
  }

  /** Where Enter goes now. */
  prompt(): string {
    if (this.#asked !== undefined) return "allow? y/n > ";
    return this.#status === "idle" ? "> " : "steer > ";
  }

  /** What stands below the text. */
  below(): readonly { readonly text: string; readonly ink: Ink }[] {
    const now = this.#host.clock.now();
    const tools = this.story.tools(now).map((text) => ({ text, ink: "note" as const }));
    const waits = this.#queue.slice(0, shownQueue).map(({ text }, at) => ({
      text: `  waits ${at + 1}: ${withoutMark(terminalLine(text))}`,
      ink: "dim" as const,
    }));
    const more = this.#queue.length - waits.length;
    const rest = more > 0 ? [{ text: `  and ${more} more: /queue`, ink: "dim" as const }] : [];
    const state = this.#stopping
      ? "  stopping …  Ctrl-C again leaves"
      : "  working …  Ctrl-C stops";
    const working = this.#status === "running" ? [{ text: state, ink: "dim" as const }] : [];
    return [...tools, ...waits, ...rest, ...working];
  }

  /** Whether there is something that moves by itself, such as a tool's time. */
  moves(): boolean {
    return this.story.tools(0).length > 0;
  }

  observe(event: RunEvent): void {
    if (event.sessionId !== this.#session.id) return;
    for (const told of this.#narrate(event)) this.story.tell(told, event.time);
    // A view costs by the length of the session, and only facts change what is read from it here.
    if ("n" in event) this.refresh();
    this.#host.changed();
  }

  /** Reads the session's state anew, and puts a question that has not been put. */
  refresh(): void {
    const { status, stopping, queue, approvals } = this.#session;
    this.#status = status;
    this.#stopping = stopping;
    this.#queue = queue;
    const [first] = approvals as readonly ViewApproval[];
    if (first?.id === this.#asked?.id) return;
    const before = this.#asked;
    this.#asked = first;
    if (before === undefined) this.#host.setLine("set_aside");
    if (first === undefined) this.#host.setLine("bring_back");
    else this.#ask(first);
  }

  /** A line was typed. */
  enter(line: string): void {
    const typed = readLine(line);
    if (typed.kind === "nothing") return;
    if (this.#asked !== undefined && typed.kind === "prompt") this.#answer(this.#asked, typed.text);
    else this.#obey(typed);
    this.#host.changed();
  }

  /** Ctrl-C, from the keyboard or as a signal. */
  interrupt(): Interruption {
    const time = this.#host.clock.now();
    const running = this.#session.status !== "idle" || this.#sent !== undefined;
    const decided = interrupt({
      time,
      last: this.#interruptedAt,
      running,
      typed: this.#host.typed(),
    });
    this.#interruptedAt = time;
    if (decided === "leave") this.#host.leave();
    else if (decided === "clear") this.#host.setLine({ text: "" });
    else {
      const reason = "stopped by the user";
      const run = this.#session.run ?? this.#sent;
      void this.#check(run === undefined ? this.#session.abort(reason) : run.abort(reason));
      // Where rows can be redrawn one says so; a line would break the text that is still coming.
      if (!this.#host.look.live) this.story.note("stopping; Ctrl-C again leaves", "dim");
    }
    this.#host.changed();
    return decided;
  }

  #ask({ tool, input }: ViewApproval): void {
    this.story.note(`may this run? ${withoutMark(terminalLine(tool))}`, "ask");
    this.#host.paper.verbatim(showInput(input), "ask");
  }

  #answer({ id }: ViewApproval, text: string): void {
    const answer = readAnswer(text);
    if (answer.answer === "unclear") {
      return this.story.note("please answer y or n; n may be followed by a reason", "ask");
    }
    const session = this.#session;
    if (answer.answer === "allow") return void this.#check(session.allow(id));
    return void this.#check(session.deny(id, answer.reason));
  }

  #obey(typed: Typed): void {
    const session = this.#session;
    // What waits while nothing runs is left from a run that was stopped, and goes with the next prompt.
    const idle = session.status === "idle" && this.#sent === undefined;
    switch (typed.kind) {
      case "nothing":
        return;
      case "unknown":
        return this.story.note(withoutMark(terminalLine(typed.problem)), "bad");
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
        for (const line of commandHelp) this.story.note(line);
        return;
      case "quit":
        return this.#host.leave();
      default:
        typed satisfies never;
    }
  }

  /** How the run ends is told by its events; only a prompt that is not taken has none. */
  async #send(text: string): Promise<void> {
    const session = this.#session;
    const run = session.send(text);
    this.#sent = run;
    const result = await run.result;
    if (this.#sent === run) this.#sent = undefined;
    if (result.outcome === "failed" && isOurs(result.error.code)) {
      this.story.note(explain(result.error, session.id), "bad");
    }
    this.refresh();
    this.#host.changed();
  }

  /** Says so if something that was sent is not accepted. */
  async #check({ accepted }: Sent): Promise<boolean> {
    const answer = await accepted;
    if (!answer.accepted) this.story.note(explain(answer.error, this.#session.id), "bad");
    this.#host.changed();
    return answer.accepted;
  }

  #showQueue(): void {
    const { queue } = this.#session;
    if (queue.length === 0) this.story.note("nothing waits");
    for (const [at, { kind, text }] of queue.entries()) {
      const sort = kind === "follow_up" ? "follow-up" : kind;
      this.story.note(`${at + 1}. (${sort}) ${withoutMark(terminalLine(text))}`);
    }
  }

  async #takeBack(place: number): Promise<void> {
    const queued = this.#session.queue[place - 1];
    if (queued === undefined) return this.story.note(`nothing waits at ${place}`, "bad");
    if (!(await this.#check(this.#session.takeBack(queued.id)))) return;
    this.story.note(`taken back: ${withoutMark(terminalLine(queued.text))}`);
    if (!this.#host.typed()) this.#host.setLine({ text: queued.text });
    this.#host.changed();
  }

  async #fork(): Promise<void> {
    const last = (this.#session.transcript as readonly Item[]).at(-1);
    if (last === undefined) return this.story.note("there is nothing to fork yet", "bad");
    if (this.#session.status !== "idle") {
      return this.story.note("a run is on: stop it first, or wait", "bad");
    }
    const old = this.#session;
    try {
      this.#session = await old.fork(last.id);
      await old.close();
      this.story.note(
        `this is ${terminalLine(this.#session.id)} now, a copy of ${terminalLine(old.id)}`,
      );
    } catch (error) {
      this.story.note(`not forked: ${terminalLine(String(error))}`, "bad");
    }
    this.refresh();
    this.#host.changed();
  }

  #showUsage(): void {
    const { inputTokens, outputTokens, cachedTokens, cost } = this.#session.usage;
    const price = cost === undefined ? "cost unknown" : `$${cost.toFixed(4)}`;
    this.story.note(
      `${inputTokens} tokens in (${cachedTokens} cached), ${outputTokens} out, ${price}`,
    );
  }
}
