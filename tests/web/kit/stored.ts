import type { Fact } from "@millrace/core";
import { isSealed, textOfItem } from "../../kit/deployment/paced-agent.ts";
import type { HttpViewer } from "./http-viewer.ts";

/** What is wrong with how a prompt was stored and answered. Nothing: once, whole and completed. */
export function faultsOfPrompt(facts: readonly Fact[], key: string): readonly string[] {
  const accepted = facts.filter(
    (fact) => fact.type === "input_accepted" && fact.inputId === `input_${key}`,
  );
  const replies = facts.flatMap((fact) =>
    fact.type === "item_committed" && fact.item.author === "model" ? [textOfItem(fact.item)] : [],
  );
  const own = replies.filter((text) => text.startsWith(`answer to ${key},`));
  const ends = facts.filter(
    (fact) =>
      fact.type === "run_finished" && fact.runId === `run_${key}` && fact.outcome === "completed",
  );
  const counts = { accepted: accepted.length, replies: own.length, ends: ends.length };
  const faults = Object.entries(counts).filter(([, count]) => count !== 1);
  const broken = own.filter((text) => !isSealed(text));
  return [
    ...faults.map(([what, count]) => `${key}: ${count} ${what}`),
    ...broken.map((text) => `${key}: a reply that lost or doubled text: ${text.slice(-60)}`),
  ];
}

/** What is wrong with a viewer's screen, once it is at the head: its items are the stored ones, in order. */
export function faultsOfScreen(facts: readonly Fact[], viewer: HttpViewer): readonly string[] {
  const stored = facts.flatMap((fact) => (fact.type === "item_committed" ? [fact.item] : []));
  const shown = viewer.state?.items.toArray() ?? [];
  const show = (items: typeof shown): string =>
    JSON.stringify(items.map((item) => [item.id, textOfItem(item)]));
  const same = show(stored) === show(shown);
  return [
    ...viewer.checks.faults,
    ...(same ? [] : [`${shown.length} items are shown, ${stored.length} are stored, or other`]),
  ];
}
