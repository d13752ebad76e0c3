import { showJsonStart } from "@millrace/core/reading";
import type { JsonObject, ResultStatus } from "@millrace/core";
import { terminalLine, withoutNoticeMark } from "@millrace/agent/terminal";

/** What is known of a call, for its one row. */
export interface ToolRow {
  readonly tool: string;
  readonly state: "writing" | "waiting" | "running" | "past" | ResultStatus;
  readonly input?: JsonObject | undefined;
  readonly message?: string | undefined;
  /** When it began, by the clock of the events. */
  readonly since: number | undefined;
}

const maxInput = 200;
const maxRows = 6;

/** One row: the tool, what it was asked, how it is doing, and for how long. */
export function describeTool(row: ToolRow, now: number | undefined): string {
  const input = row.input === undefined ? "" : ` ${showJsonStart(row.input, maxInput)}`;
  const took = now === undefined || row.since === undefined ? undefined : now - row.since;
  const time = took === undefined ? "" : ` ${duration(took)}`;
  return withoutNoticeMark(`${terminalLine(row.tool)}${input}${stateOf(row, time)}`);
}

function stateOf({ state, message }: ToolRow, time: string): string {
  const progress = message === undefined ? "" : ` ${terminalLine(message, 80)}`;
  switch (state) {
    case "writing":
      return " … being written";
    case "waiting":
      return " … waits";
    case "running":
      return ` …${time}${progress}`;
    case "past":
      return "";
    case "unknown":
      return ": unknown; it may have run, and nobody knows how it ended";
    case "ok":
    case "failed":
    case "denied":
    case "aborted":
      return `: ${state}${time === "" ? "" : `,${time}`}`;
    default:
      state satisfies never;
      return "";
  }
}

/** The end of what a tool wrote, as rows. The session has all of it. */
export function outputRows(text: string): readonly string[] {
  const lines = text.trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return [];
  const shown = lines.slice(-maxRows).map((line) => withoutNoticeMark(terminalLine(line, 400)));
  const left = lines.length - shown.length;
  return left === 0 ? shown : [`(${left} lines before)`, ...shown];
}

function duration(ms: number): string {
  const tenths = Math.max(0, Math.round(ms / 100)) / 10;
  return tenths < 60
    ? `${tenths.toFixed(1)} s`
    : `${Math.floor(tenths / 60)} min ${Math.round(tenths % 60)} s`;
}
