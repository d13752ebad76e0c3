import type { Item, Part } from "@millrace/core";
import type { OpenLane } from "@millrace/core/reading";
import type { RunCall } from "./run-events.ts";

/** A part of a draft or of an item. */
export interface ReplyPart {
  readonly kind: Item["parts"][number]["kind"];
  /** Set once nothing of it follows. */
  readonly whole?: Part | undefined;
  readonly isWhole: boolean;
  /** Characters of a text or of reasoning. */
  readonly length?: number;
  readonly after: (sent: number) => string;
}

/** A part that is stored, or that nothing is added to. */
export function storedPart(part: Part): ReplyPart {
  const { kind } = part;
  const base = { kind, whole: part, isWhole: true };
  if (kind !== "text" && kind !== "reasoning") return { ...base, after: () => "" };
  const { text } = part;
  return { ...base, length: text.length, after: (sent) => text.slice(sent) };
}

/** A part of a reply that is being written. */
export function draftPart(part: OpenLane["draft"]["parts"][number]): ReplyPart {
  if (part.state === "committed") return storedPart(part.part);
  const { begin, settled, tail } = part;
  const { kind } = begin;
  if (!isText(kind)) return { kind, isWhole: false, after: () => "" };
  // The settled text is long, and is not touched for a few new characters.
  const after = (sent: number): string =>
    sent >= settled.length ? tail.slice(sent - settled.length) : settled.slice(sent) + tail;
  return { kind, isWhole: false, length: settled.length + tail.length, after };
}

/** The call that a part is, under this name and by this attempt. */
export function callOf(
  named: Pick<RunCall, "id" | "by">,
  { whole }: ReplyPart,
): RunCall | undefined {
  if (whole?.kind !== "tool_call") return undefined;
  const { callId, tool, input, raw } = whole;
  const given = input === undefined ? raw : JSON.stringify(input);
  return { ...named, callId, tool, input: given };
}

/** Whether a part is what this call came to. */
export function isResultOf({ whole }: ReplyPart, callId: string): boolean {
  return whole?.kind === "tool_result" && whole.callId === callId;
}

/** Whether parts of a kind are texts that are sent piece by piece. */
export function isText(kind: string): kind is "text" | "reasoning" {
  return kind === "text" || kind === "reasoning";
}
