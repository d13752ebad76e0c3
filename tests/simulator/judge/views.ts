/** What pages show, while it changes and at the end. */
import type { Fact, Item } from "@millrace/core";
import type { ClientView } from "@millrace/client";
import { textOfItem } from "../../kit/deployment/paced-agent.ts";
import type { Report } from "./report.ts";

const nonces = /#([0-9a-f]{8}) /g;

/** Judges each view of a session in a page: it never goes back, and never joins two replies. */
export function viewJudge(
  where: string,
  written: ReadonlyMap<string, string>,
  report: Pick<Report, "add">,
): (view: Pick<ClientView, "head" | "items">) => void {
  let shown = 0;
  return ({ head, items }) => {
    if (head < shown) report.add("view-forward", `${where} goes from ${shown} back to ${head}`);
    shown = head;
    for (const item of items.slice(-3)) {
      if (item.author !== "model") continue;
      judgeText(where, textOfItem(item as Item), written, report);
    }
  };
}

/** Judges the text of a reply as far as it is shown. */
export function judgeText(
  where: string,
  text: string,
  written: ReadonlyMap<string, string>,
  report: Pick<Report, "add">,
): void {
  const found = noncesIn(text);
  if (found.length > 1) report.add("no-splice", `${where} shows ${text.slice(0, 80)}`);
  const whole = written.get(found[0] ?? "");
  if (whole !== undefined && !whole.startsWith(text))
    report.add("prefix", `${where} shows …${text.slice(-40)}, which the model did not write`);
}

/** The replies that a text is of. */
export function noncesIn(text: string): readonly string[] {
  return [...text.matchAll(nonces)].flatMap(([, nonce]) => nonce ?? []);
}

/** The texts of people and of the model, as the facts have them. */
export function textsOf(facts: readonly Fact[]): readonly string[] {
  const items = new Map<string, Item>();
  for (const fact of facts)
    if (fact.type === "item_committed" || fact.type === "item_replaced")
      items.set(fact.item.id, fact.item);
  return [...items.values()]
    .filter(({ author }) => author !== "tool")
    .map((item) => textOfItem(item))
    .filter((text) => text !== "");
}
