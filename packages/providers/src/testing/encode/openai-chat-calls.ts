import type { Json, JsonObject } from "@millrace/core";
import type { LogicalCall, LogicalReply } from "../replies.ts";
import type { Random } from "../../../../../tests/kit/random.ts";
import { pieces } from "./weave.ts";

/**
 * How a server writes calls. `standard`: OpenAI. `repeating`: id and name with each piece. `blank`:
 * both empty after the first. `whole`: one delta a call. `unindexed`: whole calls, or pieces with
 * their id, without an index. `zero`: whole calls, all with the index 0. `object`: arguments as JSON.
 * `late`: the name comes after the first piece. `doubled`: the whole arguments once more at the end.
 * `legacy`: the only call, as it was before there could be several.
 */
export type ChatCallStyle =
  | "standard"
  | "repeating"
  | "blank"
  | "whole"
  | "unindexed"
  | "zero"
  | "object"
  | "late"
  | "doubled"
  | "legacy";

export function chatCallStyle({ parts }: LogicalReply, random: Random): ChatCallStyle {
  if (random.chance(0.4)) return "standard";
  const calls = parts.filter((part) => part.kind === "tool_call");
  const cut = calls.some(({ input }) => input === undefined);
  const unsigned = calls.every(({ signature }) => signature === undefined);
  return random.pick<ChatCallStyle>([
    "repeating",
    "blank",
    "whole",
    "unindexed",
    "zero",
    "late",
    ...(cut ? [] : (["object", "doubled"] as const)),
    ...(calls.length === 1 && unsigned ? (["legacy"] as const) : []),
  ]);
}

/** The deltas of each call. */
export function chatCalls(
  calls: readonly LogicalCall[],
  { style, first }: { readonly style: ChatCallStyle; readonly first: number },
  random: Random,
): readonly (readonly JsonObject[])[] {
  const typed: JsonObject = random.chance(0.9) ? { type: "function" } : {};
  return calls.map((call, at): readonly JsonObject[] => {
    const index = first + at;
    const opening = { ...typed, ...signed(call) };
    switch (style) {
      case "standard":
      case "repeating":
      case "blank":
      case "doubled":
        return inPieces(call, { style, index, opening }, random);
      case "whole":
        return [entry({ index, id: call.id, ...opening, function: named(call, call.raw) })];
      case "zero":
        return [entry({ index: 0, id: call.id, ...opening, function: named(call, call.raw) })];
      case "object":
        return [entry({ index, id: call.id, ...opening, function: named(call, call.input ?? {}) })];
      case "unindexed":
        return unindexed(call, opening, random);
      case "late":
        return lateName(call, { index, opening }, random);
      case "legacy":
        return [
          { function_call: { name: call.tool, arguments: "" } },
          ...pieces(call.raw, random).map((piece) => ({ function_call: { arguments: piece } })),
        ];
      default:
        style satisfies never;
        return [];
    }
  });
}

interface Opening {
  readonly index: number;
  readonly opening: JsonObject;
}

function inPieces(
  call: LogicalCall,
  { style, index, opening }: Opening & { readonly style: ChatCallStyle },
  random: Random,
): readonly JsonObject[] {
  const cut = pieces(call.raw, random);
  const start = random.pick([0, 1]);
  const lead = start === 1 ? (cut[0] ?? "") : random.pick<Json>(["", null]);
  const rest = cut.slice(start);
  // White space around a value is not part of it, and would make the copy a different text.
  if (style === "doubled" && call.raw !== "" && call.raw === call.raw.trim()) rest.push(call.raw);
  return [
    entry({ index, id: call.id, ...opening, function: named(call, lead) }),
    ...rest.map((piece) => {
      if (style === "repeating") return entry({ index, id: call.id, function: named(call, piece) });
      if (style === "blank") {
        return entry({ index, id: "", type: "function", function: { name: "", arguments: piece } });
      }
      return entry({ index, function: { arguments: piece } });
    }),
  ];
}

function unindexed(call: LogicalCall, opening: JsonObject, random: Random): readonly JsonObject[] {
  const [lead = "", ...rest] = random.chance(0.5) ? [call.raw] : pieces(call.raw, random);
  return [
    entry({ id: call.id, ...opening, function: named(call, lead) }),
    ...rest.map((piece) => entry({ id: call.id, function: { arguments: piece } })),
  ];
}

function lateName(
  call: LogicalCall,
  { index, opening }: Opening,
  random: Random,
): readonly JsonObject[] {
  const [lead = "", ...rest] = pieces(call.raw, random);
  return [
    entry({ index, id: call.id, ...opening, function: { arguments: lead } }),
    entry({ index, function: { name: call.tool } }),
    ...rest.map((piece) => entry({ index, function: { arguments: piece } })),
  ];
}

function entry(call: JsonObject): JsonObject {
  return { tool_calls: [call] };
}

function named({ tool }: LogicalCall, given: Json): JsonObject {
  return { name: tool, arguments: given };
}

/** Google's signature, as its servers for this dialect send it. */
function signed({ signature }: LogicalCall): JsonObject {
  if (signature === undefined) return {};
  return { extra_content: { google: { thought_signature: signature } } };
}
