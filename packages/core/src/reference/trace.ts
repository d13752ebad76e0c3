import type { Item } from "../content/item.ts";
import type { Part } from "../content/part.ts";
import type { Transcript } from "../content/transcript.ts";
import { encodePart } from "../wire/content-codec.ts";

/**
 * One line of JSON a part, without ids and times: the same for the same conversation, so it can be
 * kept as a golden file. Calls and their results are numbered in the order in which they appear.
 */
export function trace(transcript: Transcript): string {
  const calls = new Map<string, number>();
  const number = (callId: string): number => {
    const known = calls.get(callId) ?? calls.size + 1;
    calls.set(callId, known);
    return known;
  };
  return transcript.flatMap((item) => item.parts.map((part) => line(item, part, number))).join("");
}

function line(item: Item, part: Part, number: (callId: string) => number): string {
  const { id: _, callId, ...shown } = encodePart(part);
  const call = typeof callId === "string" ? { call: number(callId) } : {};
  const stop = item.stop === "end" ? {} : { stop: item.stop };
  return `${JSON.stringify({ author: item.author, ...shown, ...call, ...stop })}\n`;
}
