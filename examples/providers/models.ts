import { defineAgent } from "@millrace/agent";
import { anthropic } from "@millrace/providers/anthropic";
import { findModel, modelTable, modelTableDate } from "@millrace/providers/models";

// #region price
const facts = findModel("anthropic", "claude-sonnet-5");
export const model = anthropic("claude-sonnet-5", { price: facts?.price });
export const agent = defineAgent({
  model,
  limits: { cost: 0.5 }, // US dollars for a run, sub-agents included
  context: { window: facts?.window ?? 200_000 },
});
// #endregion

// #region own
const negotiated = {
  vendor: "anthropic",
  model: "claude-sonnet-5",
  price: { input: 1.5, output: 8 },
};
export const ours = findModel("anthropic", "claude-sonnet-5", [negotiated, ...modelTable]);
export const from = modelTableDate; // the day from which the table is
// #endregion
