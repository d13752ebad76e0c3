import type { JsonObject } from "@millrace/core";
import type { LogicalCall, LogicalPart, LogicalReasoning, LogicalText } from "../replies.ts";
import type { Random } from "../../../../../tests/kit/random.ts";
import { pieces } from "./weave.ts";

export interface BlockStyle {
  readonly indexed: boolean;
  /** The difference between the indexes of two blocks. */
  readonly stride: number;
  /** A call's input is in the start of its block, without deltas. */
  readonly wholeInput: boolean;
  /** The first piece of a text is in the start of its block. */
  readonly early: boolean;
  /** Adds deltas of an unknown type. */
  readonly unknownDeltas: boolean;
}

interface Place {
  readonly at: number;
  readonly style: BlockStyle;
}

/** The events of one block. */
export function anthropicBlock(
  part: LogicalPart,
  { at, style }: Place,
  random: Random,
): readonly JsonObject[] {
  const index: JsonObject = style.indexed ? { index: at * style.stride } : {};
  const { start, deltas } = blockOf(part, style, random);
  return [
    { type: "content_block_start", ...index, content_block: start },
    ...deltas.map((delta): JsonObject => ({ type: "content_block_delta", ...index, delta })),
    ...(style.unknownDeltas
      ? [{ type: "content_block_delta", ...index, delta: { type: "mood_delta", mood: "good" } }]
      : []),
    { type: "content_block_stop", ...index },
  ];
}

interface Block {
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function blockOf(part: LogicalPart, style: BlockStyle, random: Random): Block {
  switch (part.kind) {
    case "text":
      return textBlock(part, style, random);
    case "reasoning":
      return thinkingBlock(part, random);
    case "tool_call":
      return toolBlock(part, style, random);
    default:
      return part satisfies never;
  }
}

function textBlock({ text }: LogicalText, style: BlockStyle, random: Random): Block {
  const cut = pieces(text, random);
  const early = style.early ? 1 : 0;
  return {
    start: { type: "text", text: early === 1 ? (cut[0] ?? "") : "" },
    deltas: cut.slice(early).map((piece) => ({ type: "text_delta", text: piece })),
  };
}

function thinkingBlock({ text, signature }: LogicalReasoning, random: Random): Block {
  if (text === "" && signature !== undefined && random.chance(0.5)) {
    return { start: { type: "redacted_thinking", data: signature }, deltas: [] };
  }
  const signed =
    signature === undefined ? [] : random.chance(0.8) ? [signature] : halves(signature);
  return {
    start: { type: "thinking", thinking: "", ...(random.chance(0.8) ? { signature: "" } : {}) },
    deltas: [
      ...pieces(text, random).map((piece) => ({ type: "thinking_delta", thinking: piece })),
      ...signed.map((piece) => ({ type: "signature_delta", signature: piece })),
    ],
  };
}

function halves(text: string): readonly string[] {
  const middle = text.length >> 1;
  return [text.slice(0, middle), text.slice(middle)];
}

function toolBlock(call: LogicalCall, style: BlockStyle, random: Random): Block {
  const start = { type: "tool_use", id: call.id, name: call.tool };
  if (style.wholeInput) return { start: { ...start, input: call.input ?? {} }, deltas: [] };
  const cut = pieces(call.raw, random);
  const lead = random.chance(0.7) ? ["", ...cut] : cut;
  return {
    start: { ...start, input: {} },
    deltas: lead.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
  };
}
