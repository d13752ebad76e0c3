import type { Item, Narration, ResultStatus } from "@millrace/core";
import { createTerminalText, terminalLine } from "@millrace/agent";
import { describeTool, outputRows } from "./tool-line.ts";
import type { ToolRow } from "./tool-line.ts";
import { mark, withoutMark } from "./paper.ts";
import type { Ink, Paper } from "./paper.ts";

export interface StoryOptions {
  /** Whether rows can be redrawn. If not, a tool's start and progress are lines of their own. */
  readonly live: boolean;
  /** Whether dim text can be told from other text. */
  readonly color: boolean;
}

/**
 * Writes what happens for a person to read: text as it comes, a line for each tool, question, retry
 * and end. It holds only what is open: the text being written, and the tools at work.
 */
export class Story {
  readonly #paper: Paper;
  readonly #options: StoryOptions;
  readonly #text = createTerminalText();
  readonly #tools = new Map<string, ToolRow>();
  /** Items of which text was shown, so that it can be taken back. */
  readonly #shown = new Set<string>();
  /** The part whose text the last line is. */
  #open: string | undefined;
  #ink: Ink = "plain";

  constructor(paper: Paper, options: StoryOptions) {
    this.#paper = paper;
    this.#options = options;
  }

  /** The tools at work, as rows to be redrawn. */
  tools(now: number): readonly string[] {
    return [...this.#tools.values()].map((row) => `${mark} ${describeTool(row, now)}`);
  }

  /** Writes one line of ours. What comes from outside in it has to be harmless already. */
  note(text: string, ink: Ink = "note"): void {
    this.#endText();
    this.#paper.line(`${mark} ${text}`, ink);
  }

  tell(told: Narration, time: number): void {
    switch (told.type) {
      case "assistant_text_delta":
        return this.#append(told.itemId, told.partId, told.text, "plain");
      case "reasoning_delta":
        return this.#append(told.itemId, told.partId, told.text, "dim");
      case "attempt_superseded":
        this.#tools.clear();
        if (!this.#shown.delete(told.itemId)) return undefined;
        return this.note("— attempt failed, trying again —", "bad");
      case "item_committed":
        return this.#commit(told.item, time);
      case "item_replaced":
        this.#shown.delete(told.item.id);
        if (told.item.author === "user" || told.item.author === "tool") return undefined;
        this.note("what stands instead:");
        return this.item(told.item);
      case "tool_call_started":
        this.#endText();
        this.#tools.set(told.callId, { tool: told.tool, state: "writing", since: time });
        return undefined;
      case "tool_call_refused":
        this.#tools.delete(told.callId);
        return this.note(
          `${terminalLine(told.tool)}: not run, its arguments can't be used (${terminalLine(told.fault.code)})`,
          "bad",
        );
      case "tool_call_ready":
      case "tool_execution_started":
      case "tool_execution_update":
      case "tool_output_delta":
        return this.#follow(told, time);
      case "turn_finished":
      case "run_finished":
        this.#endText();
        this.#tools.clear();
        break;
      default:
    }
    const [line, ink] = lineOf(told);
    if (line !== undefined) this.note(line, ink);
  }

  /** Shows an item of the past: what was said, and what came of calls. */
  item(item: Item): void {
    for (const part of item.parts) {
      if (part.kind === "text" && item.author === "user") this.#you(part.text);
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
      if (part.kind === "text" && item.author === "user") this.#you(part.text);
    }
  }

  #you(text: string): void {
    this.#endText();
    const [first = "", ...rest] = harmless(text).split("\n");
    this.#paper.line(`${mark} you: ${first}`, "ask");
    for (const row of rest) this.#paper.line(`  ${row}`, "ask");
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
    for (const output of outputRows(part.text)) this.#paper.line(`  ${output}`, "dim");
  }

  #follow(
    told: Extract<
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
    const known = this.#tools.get(told.callId) ?? {
      tool: told.tool,
      state: "waiting",
      since: time,
    };
    const { live } = this.#options;
    if (told.type === "tool_call_ready") {
      this.#tools.set(told.callId, { ...known, input: told.input, state: "waiting" });
    } else if (told.type === "tool_execution_started") {
      const row: ToolRow = { ...known, input: told.input, state: "running", since: time };
      this.#tools.set(told.callId, row);
      if (!live) this.note(describeTool(row, undefined));
    } else {
      const message = told.type === "tool_execution_update" ? told.message : lastLine(told.text);
      if (message === undefined) return;
      this.#tools.set(told.callId, { ...known, message });
      // Output of a tool is by the line; without redrawing it would flood, and it is in the result.
      if (!live && told.type === "tool_execution_update") {
        this.note(`${terminalLine(told.tool)}: ${terminalLine(message)}`);
      }
    }
  }

  #append(itemId: string, partId: string, text: string, ink: Ink): void {
    const part = `${itemId} ${partId}`;
    if (this.#open !== part) {
      this.#endText();
      this.#open = part;
      this.#ink = ink;
      if (ink === "dim" && !this.#options.color) this.#paper.text("(reasoning) ", ink);
    }
    this.#shown.add(itemId);
    this.#put(this.#text.write(text));
  }

  #put(text: string): void {
    if (text !== "") this.#paper.text(withoutMark(text), this.#ink);
  }

  #endText(): void {
    if (this.#open === undefined) return;
    this.#put(this.#text.end());
    this.#paper.endText();
    this.#open = undefined;
  }
}

/** Somebody's text, whole, that a terminal only prints. */
function harmless(text: string): string {
  const safe = createTerminalText();
  return withoutMark(safe.write(text) + safe.end());
}

function lastLine(text: string): string | undefined {
  return text.trimEnd().split("\n").at(-1)?.trim() || undefined;
}

const nothing: readonly [undefined, Ink] = [undefined, "note"];

/** What one line tells, or nothing for what is told otherwise or not at all. */
function lineOf(told: Narration): readonly [string | undefined, Ink] {
  switch (told.type) {
    case "approval_resolved":
      return [told.decision === "allow" ? "allowed" : "denied", "note"];
    case "retry_scheduled":
      return [`${causeOf(told.cause)}; another try in ${seconds(told.delayMs)}`, "bad"];
    case "stalled":
      return [`nothing has come for ${seconds(told.silentMs)}`, "bad"];
    case "compaction_started":
      return ["making the context shorter; the session keeps all of it", "note"];
    case "turn_finished":
      return [endings[told.stop], "bad"];
    case "run_finished":
      if (told.outcome === "limited")
        return [`ended by a limit: ${terminalLine(told.limit)}`, "bad"];
      if (told.outcome === "failed") return [`failed: ${causeOf(told.cause)}`, "bad"];
      return told.outcome === "aborted" ? ["stopped; what came is kept", "bad"] : nothing;
    default:
      return nothing;
  }
}

/** Replies that ended before their end. What failed or was stopped is told with its run. */
const endings: Readonly<Partial<Record<Item["stop"], string>>> = {
  length: "the reply was cut: it reached its length",
  filtered: "the reply was cut: its vendor filtered it",
  truncated: "the reply was cut: its end never came",
};

function causeOf({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${terminalLine(code)}: ${terminalLine(message)}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
