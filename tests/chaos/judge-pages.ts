import type { Fact } from "@millrace/core";
import { textOfItem } from "../kit/deployment/paced-agent.ts";
import type { Violation } from "./oracle.ts";
import type { PageResult, PageSession } from "./pages.ts";

/** What pages showed of one session at the end, and what they were told of its runs. */
export interface SeenByPages {
  readonly facts: readonly Fact[];
  readonly pages: readonly PageSession[];
  readonly results: readonly PageResult[];
}

/** Pages show what is stored, and the result of a run is the stored one. */
export function judgePages({ facts, pages, results }: SeenByPages): readonly Violation[] {
  const found: Violation[] = [];
  const stored = storedTexts(facts);
  for (const { page, id, view } of pages) {
    const where = `page ${page} of ${id}`;
    if (view.head !== facts.length) {
      const what = `${where} has ${view.head} of ${facts.length} facts, ${view.connection}`;
      found.push({ kind: "page behind", what });
      continue;
    }
    const shown = shownTexts(view.items);
    const isEnd = JSON.stringify(stored.slice(-shown.length)) === JSON.stringify(shown);
    if (!isEnd || (shown.length === 0 && stored.length > 0))
      found.push({ kind: "page differs", what: `${where} shows other texts than are stored` });
  }
  for (const { session, key, outcome } of results) {
    const end = facts.find((fact) => fact.type === "run_finished" && fact.runId === `run_${key}`);
    if (end?.type !== "run_finished" || end.outcome === outcome) continue;
    const what = `the run of ${key} in ${session} ended ${end.outcome}, and its page had ${outcome}`;
    found.push({ kind: "result differs", what });
  }
  return found;
}

/** The texts of people and of the model, as they are now. */
function storedTexts(facts: readonly Fact[]): readonly string[] {
  const items = new Map<string, ItemWithTexts>();
  for (const fact of facts)
    if (fact.type === "item_committed" || fact.type === "item_replaced")
      items.set(fact.item.id, fact.item);
  return shownTexts([...items.values()]);
}

type ItemWithTexts = Parameters<typeof textOfItem>[0] & object;

function shownTexts(items: readonly object[]): readonly string[] {
  return (items as readonly ItemWithTexts[]) // a view's items have the parts of the state's
    .filter(({ author }) => author !== "tool")
    .map((item) => textOfItem(item))
    .filter((text) => text !== "");
}
