import { equalJson } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";
import type { ResponsesState } from "./state.ts";

/** How an event's number follows the one before: the number to go on from, or what is wrong. */
export type Order = number | "repeated" | "broken";

/**
 * Judges a `sequence_number` that is not simply the next one. An event that comes twice is dropped;
 * one that is missing may have been text, so a gap can't be passed over. Vendors that don't number
 * their events, or give all the same number, are taken as they are.
 */
export function orderOf({ sequence, last, book }: ResponsesState, data: JsonObject): Order {
  const number: Json | undefined = data["sequence_number"];
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 0) return sequence;
  if (Number.isNaN(sequence) || sequence === Infinity)
    return Number.isNaN(sequence) ? number : sequence;
  if (number === sequence + 1) return number;
  if (number !== sequence) return "broken";
  if (equalJson(last, data)) return "repeated";
  return book.first === sequence ? Infinity : "broken";
}
