import type { Item, Part } from "@millrace/core";
import { utf8Length } from "../text-bytes.ts";
import { resultText } from "./outputs.ts";
import { headAndTail } from "./trim.ts";

/** Below this length an item is of no use, and it is better to leave items out. */
const leastBytes = 200;

/**
 * Items as text, one piece for each, for a model that is to read about them and not to go on with
 * them. Each line of content is indented, so no content can pass for the beginning of another item.
 * With a limit the longest pieces are shortened, all to the same length; if that would leave too
 * little of each, those in the middle are left out.
 */
export function recordOf(items: readonly Item[], limitBytes?: number): readonly string[] {
  const pieces = items.map(pieceOf);
  if (limitBytes === undefined) return pieces;
  // One is for the note about what is left out; two items are kept at any rate.
  const room = Math.max(2, Math.floor(limitBytes / leastBytes) - 1);
  const isFull = pieces.length > room && levelOf(pieces, limitBytes) < leastBytes;
  const kept = isFull ? withoutMiddle(pieces, room) : pieces;
  const level = Math.max(leastBytes, levelOf(kept, limitBytes));
  return kept.map((piece) =>
    headAndTail(piece, level, ({ leftOut }) => `\n  [${leftOut} bytes are left out here]\n  `),
  );
}

/** The length such that the pieces, cut down to it, have so many bytes in all, one to a line. */
function levelOf(pieces: readonly string[], bytes: number): number {
  let room = bytes - pieces.length;
  const lengths = pieces.map(utf8Length).toSorted((a, b) => a - b);
  for (const [at, length] of lengths.entries()) {
    const share = Math.floor(room / (lengths.length - at));
    if (length > share) return share;
    room -= length;
  }
  return Infinity;
}

function withoutMiddle(pieces: readonly string[], count: number): readonly string[] {
  const head = Math.ceil(count / 2);
  const tail = count - head;
  const note = `[${pieces.length - count} items are left out here]`;
  return [...pieces.slice(0, head), note, ...pieces.slice(pieces.length - tail)];
}

function pieceOf(item: Item): string {
  const lines = item.parts.flatMap((part) => lineOf(part, item));
  if (item.cause !== undefined) lines.push(`(cut short: ${item.stop})`);
  const content = lines.join("\n").toWellFormed();
  return `${item.author}:\n  ${content.replaceAll(/\r\n|[\n\r\u0085\u2028\u2029]/g, "\n  ")}`;
}

/** Reasoning is left out: its conclusions are in the text and the calls. */
function lineOf(part: Part, { author }: Item): string[] {
  switch (part.kind) {
    case "text":
      return [part.text];
    case "tool_call":
      return [`(call ${part.callId}) ${part.tool} ${part.raw}`];
    case "tool_result":
      return [`(result of ${part.callId}, ${part.tool}: ${part.status}) ${resultText(part)}`];
    case "media":
      return [`(${part.mediaType}${part.url === undefined ? "" : ` at ${part.url}`})`];
    case "file":
      return [`(file ${part.name}, ${part.mediaType})`];
    case "structured":
      return [JSON.stringify(part.value)];
    case "custom":
      // From a model it is the vendor's own, and often not for reading.
      return [author === "user" ? JSON.stringify(part.value) : `(${part.name})`];
    case "reasoning":
    case "opaque":
      return [];
    default:
      part satisfies never;
      return [];
  }
}
