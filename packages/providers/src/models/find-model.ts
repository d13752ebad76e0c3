import type { ModelFacts } from "./model-facts.ts";
import { modelTable } from "./table.ts";

/** A date at the end of a name, as vendors append it to name one version of a model. */
const version = /(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|default))$/;

/**
 * The facts of a model by its vendor and name. A name with a date is that of its model if it is not listed
 * itself. Undefined if it is not in the table: then its cost is unknown, and is not guessed from a name
 * that looks alike. Pass a table of your own, or yours before ours, to replace what we know.
 */
export function findModel(
  vendor: string,
  model: string,
  table: readonly ModelFacts[] = modelTable,
): ModelFacts | undefined {
  const find = (name: string): ModelFacts | undefined =>
    table.find((facts) => facts.vendor === vendor && facts.model === name);
  return find(model) ?? find(model.replace(version, ""));
}
