import { approvalId, idTail, itemId, turnId } from "@millrace/core/writing";
import type { ApprovalId, ItemId, RunId, SessionUid, TurnId } from "@millrace/core";

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

/** The question about a call; asked again if what would run has changed since. */
export function approvalIdOf(turn: TurnId, lane: number, asked: number): ApprovalId {
  return approvalId(`approval_${idTail(turn)}_${lane}_${asked}`);
}

/** The same for every try at a call, and for no other call, in any session. */
export function effectKeyOf(uid: SessionUid, answer: ItemId): string {
  return `${uid}_${answer}`;
}
