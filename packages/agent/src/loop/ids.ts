import { approvalId, idTail, itemId, partId, turnId } from "@millrace/core/writing";
import type { ApprovalId, ItemId, Part, PartId, RunId, SessionUid, TurnId } from "@millrace/core";

export { answerInputIdOf, inputItemIdOf, laneItemIdOf, runIdOf } from "@millrace/core/writing";

// Ids are derived, not random: each is computed from the input that began the run and from the place in
// the run. A step that is repeated after a crash gets the same ids, so the store detects the repeat. An
// id is unique in its session, because input ids are.

export function turnIdOf(run: RunId, number: number): TurnId {
  return turnId(`turn_${idTail(run)}_${number}`);
}

/** An item that an agent writes by itself in a turn. Numbered in the order in which they are begun. */
export function writtenItemIdOf(turn: TurnId, index: number): ItemId {
  return itemId(`item_${idTail(turn)}_w${index}`);
}

export function summaryItemIdOf(run: RunId, number: number): ItemId {
  return itemId(`item_${idTail(run)}_s${number}`);
}

/** The item that asks a model to correct an answer that does not match the requested schema. */
export function correctionItemIdOf(run: RunId, number: number): ItemId {
  return itemId(`item_${idTail(run)}_c${number}`);
}

/** The item without parts that marks a stop. Stored if the stop aborted no other item of the turn. */
export function stopItemIdOf(turn: TurnId): ItemId {
  return itemId(`item_${idTail(turn)}_stop`);
}

/** The approval request for a call. A new one follows if the input has changed since. */
export function approvalIdOf(turn: TurnId, lane: number, asked: number): ApprovalId {
  return approvalId(`approval_${idTail(turn)}_${lane}_${asked}`);
}

/**
 * The id of the n-th part of an item, from 1. Unique in the session: the last number is the part's, so
 * it never equals the id of a part of another item whose id is longer.
 */
export function partIdOf(item: ItemId, number: number): PartId {
  // Keeps the end of an overlong id, because the numbers of turn and lane are there.
  return partId(`part_${item.replace(/^item_/, "").slice(-230)}_${number}`);
}

/** The part with another id. A part of an unknown kind also has its id in `original`. */
export function withPartId(part: Part, id: PartId): Part {
  if (part.kind !== "opaque") return { ...part, id };
  return { ...part, id, original: { ...part.original, id } };
}

/** The parts with the ids of their places in the item. */
export function numberedParts(item: ItemId, parts: readonly Part[]): readonly Part[] {
  return parts.map((part, at) => withPartId(part, partIdOf(item, at + 1)));
}

/** Equal for all executions of one call, and different for every other call of any session. */
export function effectKeyOf(uid: SessionUid, answer: ItemId): string {
  return `${uid}_${answer}`;
}
