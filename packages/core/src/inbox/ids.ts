import { MillraceError } from "../errors.ts";
import { idTail, inputId, itemId, runId } from "../ids.ts";
import type { InputId, ItemId, RunId } from "../ids.ts";
import type { MakeId } from "../ports/clock.ts";

// An input's id fixes the ids of everything below it, so a sender knows its run before the store has
// answered. Ids below it are joined by "_": a tail with a "_" could name what is below another input.

/** The run that an input begins, if it begins one. */
export function runIdOf(input: InputId): RunId {
  return runId(`run_${idTail(input)}`);
}

/** The item that an input becomes. */
export function inputItemIdOf(input: InputId): ItemId {
  return itemId(`item_${idTail(input)}`);
}

/** The input by which a client answers a call: there is one, so a call is answered once. */
export function answerInputIdOf(answer: ItemId): InputId {
  return inputId(`input_answer_${answer}`);
}

/** The input by which a run is stopped. `since` is the number of the fact since which it is on. */
export function stopInputIdOf(since: number): InputId {
  return inputId(`input_stop_${since}`);
}

/** The input that a caller's key names. Throws `invalid_id` for what can't be a key. */
export function keyedInputId(key: string): InputId {
  return inputId(`input_${checkTail(key, "a key")}`);
}

/** A new input's id. Throws `invalid_id` if `makeId` makes what a key can't be. */
export function newInputId(makeId: MakeId): InputId {
  return inputId(`input_${checkTail(idTail(makeId("input")), "a new input's id")}`);
}

function checkTail(value: string, what: string): string {
  if (/^[A-Za-z0-9-]{1,128}$/.test(value)) return value;
  const found = JSON.stringify(value.slice(0, 40));
  const hint = "ids below it are joined by _, so leave out _ or write - in its place";
  throw new MillraceError(
    "invalid_id",
    `${what} has 1 to 128 letters, digits or -, not ${found}: ${hint}`,
  );
}
