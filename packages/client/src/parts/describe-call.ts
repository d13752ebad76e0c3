import type { View } from "@millrace/core";
import { showJsonStart } from "@millrace/core/reading";
import { visibleText } from "./visible-text.ts";

/** A call as a screen shows it, with the outcome it came to. */
export type ToolCardPart = Extract<
  View["items"][number]["parts"][number],
  { readonly kind: "tool_call" }
>;

/** A line is cut there: the rest is in the details. */
const lineLength = 240;

/**
 * What a call does now, or came to, in one line: its arguments while they are written, then its progress, then
 * its output or why there is none. Text of models and tools, made visible and never markup.
 */
export function describeCall(part: ToolCardPart): string {
  switch (part.state) {
    case "writing":
      return oneLine(part.raw.slice(-lineLength));
    case "waiting":
      return oneLine(part.raw);
    case "running":
      return oneLine(part.message ?? part.raw);
    case "finished":
      return typeof part.output === "string"
        ? oneLine(part.output)
        : showJsonStart(part.output, lineLength);
    case "failed":
    case "unknown":
      // Its state shows this already.
      return oneLine(part.message.replace(/^failed: /, ""));
    case "denied":
      return oneLine(part.reason ?? "");
    default:
      part satisfies never;
      return "";
  }
}

/**
 * How far a call is by its progress message, from 0 to 1: `62 %`, `6,204 of 10,000` or `3/8`. Undefined if
 * the message does not mention it.
 */
export function progressOf(message: string | undefined): number | undefined {
  if (message === undefined) return undefined;
  const percent = /(\d{1,3}(?:\.\d+)?) ?%/.exec(message)?.[1];
  if (percent !== undefined) return within(Number(percent) / 100);
  const [, at, all] = /(\d[\d,]*)(?: of | ?\/ ?)(\d[\d,]*)/.exec(message) ?? [];
  if (at === undefined || all === undefined) return undefined;
  const [done, total] = [at, all].map((digits) => Number(digits.replaceAll(",", "")));
  return done === undefined || total === undefined || total === 0
    ? undefined
    : within(done / total);
}

function within(share: number): number {
  return Math.min(1, Math.max(0, share));
}

function oneLine(text: string): string {
  const line = text
    .slice(0, 4 * lineLength)
    .replaceAll(/\s+/g, " ")
    .trim();
  const shown = visibleText(line);
  return shown.length > lineLength ? `${shown.slice(0, lineLength)}…` : shown;
}
