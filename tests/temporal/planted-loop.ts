/** The loop with a change that stored histories do not survive: it waits before it asks a model. */
import { decide as original } from "../../packages/agent/src/loop/decide.ts";

export * from "../../packages/agent/src/loop/index.ts";

export const decide: typeof original = (state) => {
  const action = original(state);
  const asks = action.do === "reply" || action.do === "respond";
  return asks ? { do: "wait", until: state.now + 1_000 } : action;
};
