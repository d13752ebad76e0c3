import type { Action } from "../loop/action.ts";
import type { StepRequest } from "./step.ts";

/**
 * The part of an action that a step performs, or undefined: then the action is for another step. What
 * only records belongs to every step. Of long actions a step performs the one that it is for, once; of
 * the calls of a reply those that it has.
 */
export function ownPart(
  action: Action,
  { work, calls = [] }: Pick<StepRequest, "work" | "calls">,
  hasBegun: boolean,
): Action | undefined {
  switch (action.do) {
    case "reply":
    case "respond":
    case "compact":
      return action.do === work && !hasBegun ? action : undefined;
    case "execute": {
      if (work !== "execute" || hasBegun) return undefined;
      const own = action.calls.filter(({ itemId }) => calls.includes(itemId));
      return own.length === 0 ? undefined : { ...action, calls: own };
    }
    default:
      return action;
  }
}
