import type { Item } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { headEnd, utf8Length } from "../text-bytes.ts";
import { namedOutputs, readOutputName, resultText } from "./outputs.ts";

/** What a model asks for: a piece of a result that it was given in part. */
export interface OutputRange {
  /** As the note calls it that stands where bytes were left out. */
  readonly callId: string;
  /** In UTF-8 bytes. */
  readonly offset?: number | undefined;
  readonly length?: number | undefined;
}

const defaultLength = 16 * 1_024;
/** With its first line a piece stays below what a model is given of a result. */
const maxLength = 48 * 1_024;

/** `read_output` as it is described to a model. */
export const readOutputDescription: ToolDescription & { readonly description: string } = {
  name: readOutputName,
  description:
    "Reads a part of an earlier tool result that was left out because it is long. The note in that result says which callId and offset to give. Offsets and lengths are in bytes.",
  input: {
    type: "object",
    properties: {
      callId: { type: "string", description: "As the note says it." },
      offset: { type: "integer", minimum: 0, description: "Where to begin. 0 if left out." },
      length: {
        type: "integer",
        minimum: 1,
        maximum: maxLength,
        description: `How many bytes to read. ${defaultLength} if left out.`,
      },
    },
    required: ["callId"],
    additionalProperties: false,
  },
};

/**
 * A piece of a stored result, behind a line with its range of bytes, the total, and where the next
 * piece begins. Pieces begin and end between characters, and one that is not at the end has at least
 * one character; so a model that follows the offsets reads every byte once. An unknown result is
 * reported as text, not thrown: a model reads it.
 */
export function readOutput(items: readonly Item[], range: OutputRange): string {
  const text = outputOf(items, range.callId);
  if (text === undefined) {
    return `There is no tool result with the callId ${JSON.stringify(range.callId)}. The note in the result says which one to give.`;
  }
  const total = utf8Length(text);
  const start = headEnd(text, wholeNumber(range.offset, 0));
  const rest = text.slice(start);
  const length = Math.min(maxLength, wholeNumber(range.length, defaultLength));
  // A character has four bytes at most, so this is one at least.
  const piece = rest.slice(0, headEnd(rest, Math.max(4, length)));
  const first = total - utf8Length(rest);
  const next = first + utf8Length(piece);
  const goesOn = next < total ? `the next offset is ${next}` : "this is the end";
  return `[bytes ${first} to ${next} of ${total}; ${goesOn}]\n${piece}`;
}

function outputOf(items: readonly Item[], callId: string): string | undefined {
  for (const [part, name] of namedOutputs(items)) if (name === callId) return resultText(part);
  return undefined;
}

/** Models write numbers as they like. */
function wholeNumber(value: number | undefined, otherwise: number): number {
  if (value === undefined || Number.isNaN(value)) return otherwise;
  return Math.max(0, Math.floor(value));
}
