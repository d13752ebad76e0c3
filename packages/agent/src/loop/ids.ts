import { approvalId, inputId, itemId, runId, turnId } from "@millrace/core";
import type { ApprovalId, InputId, ItemId, RunId, SessionUid, TurnId } from "@millrace/core";

// Ids are reserved, not made: each follows from the input that began the run and from the place in
// it. So a step that is taken again after a crash takes the same ids, and the store tells it from a
// new one. An id is unique in its session, since an input id is.

/** The run that an input begins, if it begins one. */
export function runIdOf(inputId: InputId): RunId {
  return runId(`run_${tail(inputId)}`);
}

export function turnIdOf(run: RunId, number: number): TurnId {
  return turnId(`turn_${tail(run)}_${number}`);
}

/** The item that a lane writes in a turn: 0 is the reply, call i is answered in lane i + 1. */
export function laneItemIdOf(turn: TurnId, lane: number): ItemId {
  return itemId(`item_${tail(turn)}_${lane}`);
}

/** The item that an input becomes. */
export function inputItemIdOf(inputId: InputId): ItemId {
  return itemId(`item_${tail(inputId)}`);
}

/** The items that an agent writes by hand in a turn, in the order in which they are begun. */
export function writtenItemIdOf(turn: TurnId, index: number): ItemId {
  return itemId(`item_${tail(turn)}_w${index}`);
}

export function summaryItemIdOf(run: RunId, number: number): ItemId {
  return itemId(`item_${tail(run)}_s${number}`);
}

/** What the loop itself says to a model whose answer has not the shape that was asked for. */
export function correctionItemIdOf(run: RunId, number: number): ItemId {
  return itemId(`item_${tail(run)}_c${number}`);
}

/** The question about a call; asked again if what would run has changed since. */
export function approvalIdOf(turn: TurnId, lane: number, asked: number): ApprovalId {
  return approvalId(`approval_${tail(turn)}_${lane}_${asked}`);
}

/** The input by which a client answers a call: there is one, so a call is answered once. */
export function answerInputIdOf(answer: ItemId): InputId {
  return inputId(`input_answer_${answer}`);
}

/** The same for every try at a call, and for no other call, in any session. */
export function effectKeyOf(uid: SessionUid, answer: ItemId): string {
  return `${uid}_${answer}`;
}

/** An id without the name of its sort. */
function tail(id: string): string {
  return id.replace(/^(input|run|turn)_/, "");
}
