import { showJsonStart, showQuestion } from "@millrace/core/reading";
import type { Item, Narration, RunEvent, SessionId } from "@millrace/core";
import type { AskedCall, SecretNoticed } from "@millrace/core/reading";
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
  /** Left out: true if the sink is a terminal with colours and `NO_COLOR` is not set. */
  readonly color?: boolean | undefined;
  /** Whether reasoning is shown. Left out: only with colour, which distinguishes it from the answer. */
  readonly reasoning?: boolean | undefined;
}

/**
 * Writes events for a person to read: text at once, and one line for each tool, approval request, retry
 * and end. Lines of this observer start with `►`. That character is replaced in the text of models, so
 * that no model can forge such a line. Control characters are made harmless, see `createTerminalText`.
 */
export function narrateTo(sink: TextSink, options: NarrateOptions = {}): Observer {
  const narrate = createNarrator();
  const color = options.color ?? (sink.isTTY === true && sink.hasColors?.() === true);
  const reasoning = options.reasoning ?? color;
  const page = new Page(writerTo(sink), { color, reasoning });
  return (event) => {
    if (event.type === "secret_noticed") page.notice(event);
    page.noteStop(event);
    for (const narration of narrate(event)) page.write(narration, event);
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
  /** The item and part whose text is being written. Unset after a line of our own. */
  #open: string | undefined;
  #midLine = false;
  #session: SessionId | undefined;
  /** Items with shown text, so that a notice is written when the text becomes void. */
  readonly #shown = new Set<string>();
  /** The calls of each session's run, by id. Dropped with the run. */
  readonly #calls = new Map<SessionId, Map<string, PrintedCall>>();
  /** Why the run of each session was stopped. */
  readonly #stops = new Map<SessionId, string>();

  constructor(write: (text: string) => void, options: PageOptions) {
    this.#write = write;
    this.#options = options;
  }

  write(narration: Narration, event: RunEvent): void {
    const { sessionId } = event;
    switch (narration.type) {
      case "tool_execution_started":
      case "tool_call_refused":
        this.#callOf(sessionId, narration.callId).shown = true;
        break;
      case "approval_resolved":
        if (narration.decision === "deny") this.#callOf(sessionId, narration.callId).shown = true;
        break;
      case "tool_execution_finished":
        return this.#line(sessionId, endOf(narration, this.#callOf(sessionId, narration.callId)));
      case "assistant_text_delta":
        this.#shown.add(`${sessionId} ${narration.itemId}`);
        return this.#append(
          sessionId,
          `${narration.itemId} ${narration.partId}`,
          narration.text,
          false,
        );
      case "reasoning_delta":
        if (!this.#options.reasoning) return undefined;
        this.#shown.add(`${sessionId} ${narration.itemId}`);
        return this.#append(
          sessionId,
          `${narration.itemId} ${narration.partId}`,
          narration.text,
          true,
        );
      case "attempt_superseded":
        if (!this.#shown.delete(`${sessionId} ${narration.itemId}`)) return undefined;
        return this.#line(sessionId, takenBack(event));
      case "item_committed":
        this.#shown.delete(`${sessionId} ${narration.item.id}`);
        return this.#results(sessionId, narration.item);
      case "item_replaced":
        this.#shown.delete(`${sessionId} ${narration.item.id}`);
        return this.#replace(sessionId, narration.item);
      case "run_finished": {
        this.#endText();
        const reason = this.#stops.get(sessionId);
        this.#stops.delete(sessionId);
        this.#calls.delete(sessionId);
        if (narration.outcome === "aborted" && reason !== undefined)
          return this.#line(sessionId, `stopped: ${terminalLine(reason)}`);
        break;
      }
      default:
    }
    const line = narrationLine(narration);
    if (line !== undefined) this.#line(sessionId, line);
  }

  notice({ sessionId, secret, author }: SecretNoticed): void {
    const name = terminalLine(secret);
    this.#line(sessionId, `notice: the ${author} wrote the secret ${name} into the session`);
  }

  /** Keeps why a person or a signal stopped the run: the narration of its end has no reason. */
  noteStop(event: RunEvent): void {
    if (event.type !== "input_accepted" || event.input.kind !== "abort") return;
    const { reason } = event.input;
    if (reason !== undefined) this.#stops.set(event.sessionId, reason);
  }

  #callOf(sessionId: SessionId, callId: string): PrintedCall {
    const calls = this.#calls.get(sessionId) ?? new Map<string, PrintedCall>();
    this.#calls.set(sessionId, calls);
    const call = calls.get(callId) ?? { shown: false };
    calls.set(callId, call);
    return call;
  }

  /** Keeps why calls failed, and writes it for a call that never ran: no other narration shows it. */
  #results(sessionId: SessionId, { parts }: Item): void {
    for (const part of parts) {
      if (part.kind !== "tool_result" || !(part.status === "failed" || part.status === "denied"))
        continue;
      const call = this.#callOf(sessionId, part.callId);
      call.reason = part.text;
      if (call.shown) continue;
      call.shown = true;
      this.#line(sessionId, `${terminalLine(part.tool)}: ${reasonLine(part.text)}`);
    }
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

  /** Writes the session's id when the output changes from one session to another. */
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

  /** Resets the colour after each piece, so that a crash leaves the terminal in its normal state. */
  #put(text: string, dim = false): void {
    if (text === "") return;
    const own = withoutNoticeMark(text);
    this.#write(dim ? `\u001b[2m${own}\u001b[22m` : own);
    this.#midLine = !own.endsWith("\n");
  }
}

/** A call as far as it was written. */
interface PrintedCall {
  /** A line shows that it runs, or that it does not. */
  shown: boolean;
  /** The text of its result, if it failed. */
  reason?: string;
}

/** The line for the end of an execution, with the reason of a failure. */
function endOf(
  { tool, status }: Extract<Narration, { readonly type: "tool_execution_finished" }>,
  { reason }: PrintedCall,
): string {
  const head = `${terminalLine(tool)}: `;
  if (status !== "failed" || reason === undefined) return `${head}${status}`;
  const line = reasonLine(reason);
  return line.startsWith(status) ? `${head}${line}` : `${head}${status}: ${line}`;
}

/** The end of a text in one line: a tool that wrote output has its failure after that. */
function reasonLine(text: string): string {
  return terminalLine(text.slice(-400).toWellFormed(), 400);
}

/** The notice for shown text that became void: another attempt writes it again, or nothing does. */
function takenBack(event: RunEvent): string {
  const anew = event.type === "attempt_started" || event.type === "item_committed";
  return anew ? "trying again" : "what came is void";
}

/**
 * Describes a narration in one line, without a line feed and harmless to a terminal. Undefined for a
 * narration that is not shown as a line, such as text.
 */
export function narrationLine(narration: Narration): string | undefined {
  switch (narration.type) {
    case "tool_execution_started":
      return `${terminalLine(narration.tool)} ${showJsonStart(narration.input, inputLength)}`;
    case "tool_execution_update":
      return `${terminalLine(narration.tool)}: ${terminalLine(narration.message)}`;
    case "tool_execution_finished":
      return `${terminalLine(narration.tool)}: ${narration.status}`;
    case "tool_call_refused":
      return `${terminalLine(narration.tool)}: not run, its arguments can't be used (${terminalLine(narration.fault.code)})`;
    case "approval_requested":
      return `may this run? ${questionLine(narration)}`;
    case "approval_resolved":
      return narration.decision === "allow" ? "allowed" : "denied";
    case "retry_scheduled":
      return `${causeOf(narration.cause)}; another try in ${seconds(narration.delayMs)}`;
    case "stalled":
      return `nothing has come for ${seconds(narration.silentMs)}`;
    case "notice":
      return `note: ${terminalLine(narration.message)}`;
    case "compaction_started":
      return "making the context shorter";
    case "turn_finished":
      return endings[narration.stop];
    case "run_finished":
      if (narration.outcome === "limited")
        return `ended by a limit: ${terminalLine(narration.limit)}`;
      if (narration.outcome === "failed") return `failed: ${causeOf(narration.cause)}`;
      return narration.outcome === "aborted" ? "stopped" : undefined;
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
      narration satisfies never;
      return undefined;
  }
}

/** Notices for replies that were cut. Failures and stops are shown with the end of the run. */
const endings: Readonly<Partial<Record<Item["stop"], string>>> = {
  length: "the reply was cut: it reached its length",
  filtered: "the reply was cut: its vendor filtered it",
  truncated: "the reply was cut: its end never came",
};

/** A longer input of a call that runs is cut, with a count. A question is never cut. */
const inputLength = 400;

/** A question in one line. The mark is before what runs: an input has it escaped, and can't forge it. */
function questionLine(asked: AskedCall): string {
  const { tool, input, parsed } = showQuestion(asked);
  const sent = `${tool} ${input.text} ${input.counts}`.trimEnd();
  if (parsed === undefined) return sent;
  return `${sent} ${noticeMark} which runs as ${parsed.text} ${parsed.counts}`.trimEnd();
}

function causeOf({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${terminalLine(code)}: ${terminalLine(message)}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
