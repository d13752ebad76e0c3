import { equalJson } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";
import type { ResponsesState } from "./state.ts";

/**
 * How the number of an event follows the one before: the number to continue from, or the violation.
 */
export type Order = number | "repeated" | "broken";

/**
 * Checks a `sequence_number` that is not the next one. A repeated event is dropped. A gap is a
 * failure, because the missing event may have been text. Vendors that omit numbers or repeat one
 * number are accepted.
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
