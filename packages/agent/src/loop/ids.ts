import { approvalId, idTail, itemId, partId, turnId } from "@millrace/core/writing";
import type { ApprovalId, ItemId, Part, PartId, RunId, SessionUid, TurnId } from "@millrace/core";

export { answerInputIdOf, inputItemIdOf, laneItemIdOf, runIdOf } from "@millrace/core/writing";

// Ids are reserved, not made: each follows from the input that began the run and from the place in
// it. So a step that is taken again after a crash takes the same ids, and the store tells it from a
// new one. An id is unique in its session, since an input id is.

export function turnIdOf(run: RunId, number: number): TurnId {
  return turnId(`turn_${idTail(run)}_${number}`);
}

/** The items that an agent writes by hand in a turn, in the order in which they are begun. */
export function writtenItemIdOf(turn: TurnId, index: number): ItemId {
  return itemId(`item_${idTail(turn)}_w${index}`);
}

export function summaryItemIdOf(run: RunId, number: number): ItemId {
  return itemId(`item_${idTail(run)}_s${number}`);
}

/** What the loop itself says to a model whose answer has not the shape that was asked for. */
export function correctionItemIdOf(run: RunId, number: number): ItemId {
  return itemId(`item_${idTail(run)}_c${number}`);
}

/** The item without parts that shows where a run was stopped, if the stop cut no other item of the turn. */
export function stopItemIdOf(turn: TurnId): ItemId {
  return itemId(`item_${idTail(turn)}_stop`);
}

/** The question about a call; asked again if what would run has changed since. */
export function approvalIdOf(turn: TurnId, lane: number, asked: number): ApprovalId {
  return approvalId(`approval_${idTail(turn)}_${lane}_${asked}`);
}

/**
 * The id of the n-th part of an item, from 1: no other item of the session has it. Only its last
 * number is the part's, so it can't be the id of a part of another item whose id is longer.
 */
export function partIdOf(item: ItemId, number: number): PartId {
  // The end of an overlong id has the numbers of turn and lane, so that is what is kept of it.
  return partId(`part_${item.replace(/^item_/, "").slice(-230)}_${number}`);
}

/** The part under another id. A part of an unknown kind has its id in the original too. */
export function withPartId(part: Part, id: PartId): Part {
  if (part.kind !== "opaque") return { ...part, id };
  return { ...part, id, original: { ...part.original, id } };
}

/** The parts of an item, each with the id of its place. */
export function numberedParts(item: ItemId, parts: readonly Part[]): readonly Part[] {
  return parts.map((part, at) => withPartId(part, partIdOf(item, at + 1)));
}

/** The same for every try at a call, and for no other call, in any session. */
export function effectKeyOf(uid: SessionUid, answer: ItemId): string {
  return `${uid}_${answer}`;
}
