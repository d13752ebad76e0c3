import type { Fact } from "@millrace/core";
import { isSealed, textOfItem } from "../kit/deployment/paced-agent.ts";
import type { Violation } from "./oracle.ts";

/** Facts are dense, runs and turns are bounded, each item is stored once, and whole replies are whole. */
export function judgeFacts(facts: readonly Fact[]): readonly Violation[] {
  const found: Violation[] = [];
  const add = (kind: string, what: string): void => void found.push({ kind, what });
  const items = new Set<string>();
  const runs = new Set<string>();
  let run: string | undefined;
  let turn: string | undefined;
  let incarnation = 0;
  for (const [at, fact] of facts.entries()) {
    if (fact.n !== at + 1) add("not dense", `fact ${at + 1} is numbered ${fact.n}`);
    switch (fact.type) {
      case "session_claimed":
        if (fact.incarnation <= incarnation)
          add("claim goes back", `incarnation ${fact.incarnation} follows ${incarnation}`);
        incarnation = fact.incarnation;
        break;
      case "run_started":
        if (run !== undefined || runs.has(fact.runId))
          add("run bounds", `${fact.runId} starts while ${run} is on, or again`);
        run = fact.runId;
        runs.add(run);
        break;
      case "run_finished":
        if (run !== fact.runId) add("run bounds", `${fact.runId} ends while ${run} is on`);
        if (fact.outcome === "failed")
          add("run failed", `${fact.runId} failed: ${JSON.stringify(fact.cause)}`);
        run = undefined;
        break;
      case "turn_started":
        if (turn !== undefined) add("turn bounds", `${fact.turnId} starts within ${turn}`);
        turn = fact.turnId;
        break;
      case "turn_finished":
        if (turn !== fact.turnId) add("turn bounds", `${fact.turnId} ends within ${turn}`);
        turn = undefined;
        break;
      case "item_committed": {
        const { item } = fact;
        if (items.has(item.id)) add("item twice", `${item.id} is stored twice`);
        items.add(item.id);
        const whole = item.author === "model" && (item.stop === "end" || item.stop === "tools");
        if (whole && !isSealed(textOfItem(item)))
          add("broken text", `${item.id} has the text ${textOfItem(item)}`);
        break;
      }
      default:
        break; // judged elsewhere
    }
  }
  if (run !== undefined) add("run left", `${run} is on at the end`);
  return found;
}
