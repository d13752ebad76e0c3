/** The loop with another order of work: the calls of a reply one at a time, the last one first. */
import { decide as original } from "../../packages/agent/src/loop/decide.ts";

export * from "../../packages/agent/src/loop/index.ts";

export const decide: typeof original = (state) => {
  const action = original(state);
  if (action.do !== "execute") return action;
  return { ...action, calls: action.calls.slice(-1) };
};
