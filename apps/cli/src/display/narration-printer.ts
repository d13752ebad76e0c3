import type { Item, Narration, ResultStatus } from "@millrace/core";
import {
  createTerminalText,
  narrationLine,
  noticeMark,
  terminalLine,
  withoutNoticeMark,
} from "@millrace/agent/terminal";
import { describeTool, outputRows } from "./tool-line.ts";
import type { ToolRow } from "./tool-line.ts";
import type { TextStyle, TextOutput } from "./text-output.ts";

/** How a printer's output can be used. */
export interface PrinterOptions {
  /** Whether rows can be redrawn. If not, a tool's start and progress are lines of their own. */
  readonly live: boolean;
  /** Whether dim text looks different from other text. */
  readonly color: boolean;
}

/**
 * Prints narrations for a user: text as it comes, a line for each tool, question, retry and end. It
 * keeps only what is open: the text being written, and the running tools.
 */
export class NarrationPrinter {
  readonly #output: TextOutput;
  readonly #options: PrinterOptions;
  readonly #text = createTerminalText();
  readonly #tools = new Map<string, ToolRow>();
  /** Items of which text was shown, so that it can be taken back. */
  readonly #shown = new Set<string>();
  /** The part whose text the last line is. */
  #open: string | undefined;
  #style: TextStyle = "plain";

  constructor(output: TextOutput, options: PrinterOptions) {
    this.#output = output;
    this.#options = options;
  }

  /** The running tools, as rows to be redrawn. */
  tools(now: number): readonly string[] {
    return [...this.#tools.values()].map((row) => `${noticeMark} ${describeTool(row, now)}`);
  }

  /** Writes a notice. Text from outside in it has to be harmless already: see `terminalLine`. */
  note(text: string, style: TextStyle = "note"): void {
    this.#endText();
    this.#output.line(`${noticeMark} ${text}`, style);
  }

  print(narration: Narration, time: number): void {
    switch (narration.type) {
      case "assistant_text_delta":
        return this.#append(narration.itemId, narration.partId, narration.text, "plain");
      case "reasoning_delta":
        return this.#append(narration.itemId, narration.partId, narration.text, "dim");
      case "attempt_superseded":
        this.#tools.clear();
        if (!this.#shown.delete(narration.itemId)) return undefined;
        return this.note("— attempt failed, trying again —", "bad");
      case "item_committed":
        return this.#commit(narration.item, time);
      case "item_replaced":
        this.#shown.delete(narration.item.id);
        if (narration.item.author === "user" || narration.item.author === "tool") return undefined;
        this.note("what stands instead:");
        return this.item(narration.item);
      case "tool_call_started":
        this.#endText();
        this.#tools.set(narration.callId, { tool: narration.tool, state: "writing", since: time });
        return undefined;
      case "tool_call_refused":
        this.#tools.delete(narration.callId);
        break;
      case "tool_call_ready":
      case "tool_execution_started":
      case "tool_execution_update":
      case "tool_output_delta":
        return this.#follow(narration, time);
      case "turn_finished":
      case "run_finished":
        this.#endText();
        this.#tools.clear();
        break;
      default:
    }
    const [line, style] = noticeOf(narration);
    if (line !== undefined) this.note(line, style);
  }

  /** Shows a committed item: its text, and the results of calls. */
  item(item: Item): void {
    for (const part of item.parts) {
      if (part.kind === "text" && item.author === "user") this.#prompt(part.text);
      else if (part.kind === "text") this.#append(item.id, part.id, part.text, "plain");
      else if (part.kind === "tool_result") this.#result(part, undefined);
      else if (part.kind === "media" || part.kind === "file") {
        this.note(`(${terminalLine(part.mediaType)})`);
      }
    }
    this.#endText();
    this.#shown.delete(item.id);
  }

  #commit(item: Item, time: number): void {
    this.#endText();
    this.#shown.delete(item.id);
    for (const part of item.parts) {
      if (part.kind === "tool_result") this.#result(part, time);
      if (part.kind === "text" && item.author === "user") this.#prompt(part.text);
    }
  }

  #prompt(text: string): void {
    this.#endText();
    const [first = "", ...rest] = harmless(text).split("\n");
    this.#output.line(`${noticeMark} you: ${first}`, "ask");
    for (const row of rest) this.#output.line(`  ${row}`, "ask");
  }

  #result(
    part: {
      readonly callId: string;
      readonly tool: string;
      readonly status: ResultStatus;
      readonly text: string;
    },
    time: number | undefined,
  ): void {
    const row = this.#tools.get(part.callId) ?? {
      tool: part.tool,
      state: "past",
      since: undefined,
    };
    this.#tools.delete(part.callId);
    this.note(
      describeTool({ ...row, state: part.status }, time),
      part.status === "ok" ? "note" : "bad",
    );
    for (const output of outputRows(part.text)) this.#output.line(`  ${output}`, "dim");
  }

  #follow(
    narration: Extract<
      Narration,
      {
        readonly type:
          | "tool_call_ready"
          | "tool_execution_started"
          | "tool_execution_update"
          | "tool_output_delta";
      }
    >,
    time: number,
  ): void {
    const known = this.#tools.get(narration.callId) ?? {
      tool: narration.tool,
      state: "waiting",
      since: time,
    };
    const { live } = this.#options;
    if (narration.type === "tool_call_ready") {
      this.#tools.set(narration.callId, { ...known, input: narration.input, state: "waiting" });
    } else if (narration.type === "tool_execution_started") {
      const row: ToolRow = { ...known, input: narration.input, state: "running", since: time };
      this.#tools.set(narration.callId, row);
      if (!live) this.note(describeTool(row, undefined));
    } else {
      const message =
        narration.type === "tool_execution_update" ? narration.message : lastLine(narration.text);
      if (message === undefined) return;
      this.#tools.set(narration.callId, { ...known, message });
      // Without redrawing, a tool's output would be a notice for each line. The result has all of it.
      if (!live && narration.type === "tool_execution_update") {
        this.note(`${terminalLine(narration.tool)}: ${terminalLine(message)}`);
      }
    }
  }

  #append(itemId: string, partId: string, text: string, style: TextStyle): void {
    const part = `${itemId} ${partId}`;
    if (this.#open !== part) {
      this.#endText();
      this.#open = part;
      this.#style = style;
      if (style === "dim" && !this.#options.color) this.#output.text("(reasoning) ", style);
    }
    this.#shown.add(itemId);
    this.#put(this.#text.write(text));
  }

  #put(text: string): void {
    if (text !== "") this.#output.text(withoutNoticeMark(text), this.#style);
  }

  #endText(): void {
    if (this.#open === undefined) return;
    this.#put(this.#text.end());
    this.#output.endText();
    this.#open = undefined;
  }
}

/** Makes a whole text from outside harmless to a terminal. */
function harmless(text: string): string {
  const safe = createTerminalText();
  return withoutNoticeMark(safe.write(text) + safe.end());
}

function lastLine(text: string): string | undefined {
  return text.trimEnd().split("\n").at(-1)?.trim() || undefined;
}

/** The notice for a narration that is not shown otherwise, with its style. */
function noticeOf(narration: Narration): readonly [string | undefined, TextStyle] {
  switch (narration.type) {
    // A tool is a row until its result, and the chat asks the questions.
    case "tool_execution_finished":
    case "approval_requested":
      return [undefined, "note"];
    case "approval_resolved":
    case "compaction_started":
      return [narrationLine(narration), "note"];
    case "run_finished":
      if (narration.outcome === "aborted") return ["stopped; what came is kept", "bad"];
      return [narrationLine(narration), "bad"];
    default:
      return [narrationLine(narration), "bad"];
  }
}
