import type { Item, JsonObject, Narration, RunEvent, SessionId } from "@millrace/core";
import { createNarrator } from "./narrator.ts";
import type { Observer } from "../definition/observer.ts";
import {
  createTerminalText,
  noticeMark,
  terminalLine,
  withoutNoticeMark,
} from "./terminal-text.ts";
import type { TerminalText } from "./terminal-text.ts";
import { writerTo } from "./write-to.ts";
import type { TextSink } from "./write-to.ts";

/** How a narration is written to a terminal or a file. */
export interface NarrateOptions {
  /** Left out: if the sink is a terminal that has colours, which `NO_COLOR` denies. */
  readonly color?: boolean | undefined;
  /** Whether reasoning is shown. Left out: where it can be told from the answer, by colour. */
  readonly reasoning?: boolean | undefined;
}

/**
 * Writes what happens for a person to read: text at once as it comes, and one line for what a tool,
 * a question, a retry or an end is. Lines of ours begin with `►`, which the text of models is not
 * let to write, so it can forge none. Control characters are harmless, see `createTerminalText`.
 */
export function narrateTo(sink: TextSink, options: NarrateOptions = {}): Observer {
  const narrate = createNarrator();
  const color = options.color ?? (sink.isTTY === true && sink.hasColors?.() === true);
  const reasoning = options.reasoning ?? color;
  const page = new Page(writerTo(sink), { color, reasoning });
  return (event) => {
    for (const told of narrate(event)) page.tell(told, event);
  };
}

interface PageOptions {
  readonly color: boolean;
  readonly reasoning: boolean;
}

class Page {
  readonly #write: (text: string) => void;
  readonly #options: PageOptions;
  readonly #text: TerminalText = createTerminalText();
  /** Whose text the last line is, if it is text and not ended. */
  #open: string | undefined;
  #midLine = false;
  #session: SessionId | undefined;
  /** Items of which text was shown, so that it can be taken back. */
  readonly #shown = new Set<string>();

  constructor(write: (text: string) => void, options: PageOptions) {
    this.#write = write;
    this.#options = options;
  }

  tell(told: Narration, event: RunEvent): void {
    const { sessionId } = event;
    switch (told.type) {
      case "assistant_text_delta":
        this.#shown.add(`${sessionId} ${told.itemId}`);
        return this.#append(sessionId, `${told.itemId} ${told.partId}`, told.text, false);
      case "reasoning_delta":
        if (!this.#options.reasoning) return undefined;
        this.#shown.add(`${sessionId} ${told.itemId}`);
        return this.#append(sessionId, `${told.itemId} ${told.partId}`, told.text, true);
      case "attempt_superseded":
        if (!this.#shown.delete(`${sessionId} ${told.itemId}`)) return undefined;
        return this.#line(sessionId, takenBack(event));
      case "item_committed":
        this.#shown.delete(`${sessionId} ${told.item.id}`);
        return undefined;
      case "item_replaced":
        this.#shown.delete(`${sessionId} ${told.item.id}`);
        return this.#replace(sessionId, told.item);
      case "run_finished":
        this.#endText();
        break;
      default:
    }
    const line = narrationLine(told);
    if (line !== undefined) this.#line(sessionId, line);
  }

  #append(sessionId: SessionId, from: string, text: string, dim: boolean): void {
    if (this.#open !== from || this.#session !== sessionId) {
      this.#endText();
      this.#enter(sessionId);
      this.#open = from;
      if (dim && !this.#options.color) this.#put("(reasoning) ");
    }
    this.#put(this.#text.write(text), dim && this.#options.color);
  }

  #replace(sessionId: SessionId, item: Item): void {
    if (item.author === "user" || item.author === "tool") return;
    this.#line(sessionId, "what stands instead:");
    for (const part of item.parts) {
      if (part.kind === "text") this.#append(sessionId, `${item.id} ${part.id}`, part.text, false);
    }
    this.#endText();
  }

  #line(sessionId: SessionId, text: string): void {
    this.#endText();
    this.#enter(sessionId);
    this.#write(`${noticeMark} ${text}\n`);
  }

  /** Says whose words follow, once there are two who speak. */
  #enter(sessionId: SessionId): void {
    const other = this.#session !== undefined && this.#session !== sessionId;
    this.#session = sessionId;
    if (other) this.#write(`${noticeMark} session ${terminalLine(sessionId)}\n`);
  }

  #endText(): void {
    if (this.#open === undefined) return;
    this.#put(this.#text.end());
    if (this.#midLine) this.#write("\n");
    this.#midLine = false;
    this.#open = undefined;
  }

  /** Each piece ends what it began, so that a program that dies leaves the terminal as it was. */
  #put(text: string, dim = false): void {
    if (text === "") return;
    const own = withoutNoticeMark(text);
    this.#write(dim ? `\u001b[2m${own}\u001b[22m` : own);
    this.#midLine = !own.endsWith("\n");
  }
}

/** Text that was shown is void: because another attempt writes it anew, or because all is over. */
function takenBack(event: RunEvent): string {
  const anew = event.type === "attempt_started" || event.type === "item_committed";
  return anew ? "trying again" : "what came is void";
}

/**
 * Describes a narration in one line, without a line feed and harmless to a terminal. Returns nothing
 * for one that is shown otherwise, such as text, or not at all.
 */
export function narrationLine(told: Narration): string | undefined {
  switch (told.type) {
    case "tool_execution_started":
      return `${terminalLine(told.tool)} ${jsonOf(told.input)}`;
    case "tool_execution_update":
      return `${terminalLine(told.tool)}: ${terminalLine(told.message)}`;
    case "tool_execution_finished":
      return `${terminalLine(told.tool)}: ${told.status}`;
    case "tool_call_refused":
      return `${terminalLine(told.tool)}: not run, its arguments can't be used (${terminalLine(told.fault.code)})`;
    case "approval_requested":
      return `may this run? ${terminalLine(told.tool)} ${jsonOf(told.input)}`;
    case "approval_resolved":
      return told.decision === "allow" ? "allowed" : "denied";
    case "retry_scheduled":
      return `${causeOf(told.cause)}; another try in ${seconds(told.delayMs)}`;
    case "stalled":
      return `nothing has come for ${seconds(told.silentMs)}`;
    case "compaction_started":
      return "making the context shorter";
    case "turn_finished":
      return endings[told.stop];
    case "run_finished":
      if (told.outcome === "limited") return `ended by a limit: ${terminalLine(told.limit)}`;
      if (told.outcome === "failed") return `failed: ${causeOf(told.cause)}`;
      return told.outcome === "aborted" ? "stopped" : undefined;
    case "run_released":
      return "the driver shut down; the run waits for another one";
    case "run_resumed":
      return "going on with the run";
    case "run_started":
    case "turn_started":
    case "assistant_text_delta":
    case "reasoning_delta":
    case "tool_call_started":
    case "tool_call_arguments_delta":
    case "tool_call_ready":
    case "tool_output_delta":
    case "attempt_superseded":
    case "item_committed":
    case "item_replaced":
    case "queue_updated":
    case "compaction_finished":
      return undefined;
    default:
      told satisfies never;
      return undefined;
  }
}

/** Replies that ended before their end. What failed or was stopped is told with its run. */
const endings: Readonly<Partial<Record<Item["stop"], string>>> = {
  length: "the reply was cut: it reached its length",
  filtered: "the reply was cut: its vendor filtered it",
  truncated: "the reply was cut: its end never came",
};

/** A question shows all of what would run, as far as a line goes, with nothing hidden in it. */
function jsonOf(input: JsonObject): string {
  return terminalLine(JSON.stringify(input), 400);
}

function causeOf({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${terminalLine(code)}: ${terminalLine(message)}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
