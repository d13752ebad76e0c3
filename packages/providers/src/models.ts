export { findModel } from "./models/find-model.ts";
export type { ModelFacts } from "./models/model-facts.ts";
export { modelTable, modelTableDate, modelTableSources } from "./models/table.ts";
export type { ModelPrice, Price, TierPrice } from "./price.ts";
