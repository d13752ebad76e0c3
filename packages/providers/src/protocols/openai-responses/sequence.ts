import { equalJson } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { ResponsesState } from "./state.ts";

/**
 * The number to continue from, or `repeated` for an event that came before it in the same words.
 *
 * Numbers prove nothing about the content: servers leave them out, restart them, give one number to
 * all events, and gateways drop an event together with its number. What is missing shows in the full
 * texts. So a number has one use: while numbers rise, two equal events with one number are one
 * event. Once a number does not rise, that use ends too (`Infinity`).
 */
export function orderOf({ sequence, last }: ResponsesState, data: JsonObject): number | "repeated" {
  const number = data["sequence_number"];
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 0) return sequence;
  if (Number.isNaN(sequence) || number > sequence) return number;
  if (number === sequence && equalJson(last, data)) return "repeated";
  return Infinity;
}
