import type { Fact } from "@millrace/core";
import { textOfItem } from "../kit/deployment/paced-agent.ts";
import type { SessionHistory, Violation } from "./oracle.ts";

const inputs = new Set(["send", "steer", "followUp"]);

/** Each accepted input is stored once and becomes one item or is taken back; each question has one answer. */
export function judgePeople({ facts, sent }: SessionHistory): readonly Violation[] {
  const found: Violation[] = [];
  const add = (kind: string, what: string): void => void found.push({ kind, what });
  const { accepted, became, takenBack, answers } = sortFacts(facts);
  for (const [id, times] of accepted)
    if (times > 1) add("input doubled", `${id} is stored ${times} times`);
  for (const [id, times] of became) {
    if (times > 1) add("input doubled", `${id} became ${times} items`);
    if (takenBack.has(id)) add("taken back and used", `${id} was taken back and became an item`);
  }
  for (const { call, key, outcome, text = "" } of sent) {
    if (!inputs.has(call)) continue;
    const id = `input_${key}`;
    const times = userTexts(facts).filter((one) => one === text).length;
    if (times > 1) add("input doubled", `the text of ${key} is in ${times} items`);
    if (outcome === "accepted" && !accepted.has(id))
      add("input lost", `${call} ${key} was accepted and is not stored`);
    if (outcome === "accepted" && call === "send" && times === 0 && !takenBack.has(id))
      add("input lost", `the prompt ${key} was accepted and never used`);
    if (outcome === "refused" && accepted.has(id))
      add("refused and stored", `${call} ${key} was refused and is stored`);
  }
  for (const { call, target = "", outcome } of sent) {
    if (outcome !== "accepted") continue;
    if (call === "takeBack" && became.has(target))
      add("taken back and used", `taking back ${target} was accepted, and it became an item`);
    if ((call === "allow" || call === "deny") && answers.get(target)?.[0] !== call)
      add("answer lost", `${call} of ${target} was accepted, and is not its answer`);
  }
  for (const [id, given] of answers)
    if (given.length > 1) add("approval twice", `${id} is answered ${given.length} times`);
  return found;
}

/** What the facts have of inputs and answers, by their ids. */
function sortFacts(facts: readonly Fact[]) {
  const accepted = new Map<string, number>();
  const became = new Map<string, number>();
  const takenBack = new Set<string>();
  const answers = new Map<string, readonly string[]>();
  const count = (counts: Map<string, number>, id: string): void =>
    void counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const fact of facts) {
    if (fact.type === "input_accepted") count(accepted, fact.inputId);
    if (fact.type === "queue_updated") takenBack.add(fact.inputId);
    if (fact.type === "item_committed" && fact.inputId !== undefined) count(became, fact.inputId);
    if (fact.type === "approval_resolved")
      answers.set(fact.approvalId, [...(answers.get(fact.approvalId) ?? []), fact.decision]);
  }
  return { accepted, became, takenBack, answers };
}

function userTexts(facts: readonly Fact[]): readonly string[] {
  return facts.flatMap((fact) =>
    fact.type === "item_committed" && fact.item.author === "user" ? [textOfItem(fact.item)] : [],
  );
}
