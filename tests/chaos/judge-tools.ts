import type { ToolCallPart, ToolResultPart } from "@millrace/core";
import type { SessionHistory, Violation } from "./oracle.ts";

/** Tools whose calls are never repeated. */
const effectful = new Set(["pay", "dare"]);

/** A call of the model, its results, its intents, and how often its effect happened. */
interface CallRecord {
  readonly part: ToolCallPart;
  readonly results: ToolResultPart[];
  intents: number;
  effects: number;
}

/** Each call has one result, each effect an intent, and no effect of an effectful tool happens twice. */
export function judgeTools(history: SessionHistory): readonly Violation[] {
  const found: Violation[] = [];
  const add = (kind: string, what: string): void => void found.push({ kind, what });
  const { calls, intended } = sortCalls(history);
  for (const { effectKey, tool } of history.effects)
    if (!intended.has(effectKey)) add("effect without intent", `${tool} ran as ${effectKey}`);
  for (const [name, { part, results, intents, effects }] of calls) {
    if (results.length !== 1) add("call answers", `${name} has ${results.length} results`);
    const [result] = results;
    if (result === undefined || !effectful.has(part.tool)) continue;
    if (effects > 1) add("effect twice", `${name} of ${part.tool} took effect ${effects} times`);
    if (intents > 1) add("effect twice", `${name} of ${part.tool} was begun ${intents} times`);
    if (result.status === "ok" && effects === 0) add("effect lost", `${name} is ok without effect`);
    if (result.status === "denied" && effects > 0)
      add("effect of a denied call", `${name} was denied and took effect`);
  }
  return found;
}

function sortCalls({ uid, facts, effects }: SessionHistory) {
  const calls = new Map<string, CallRecord>();
  const intended = new Set<string>();
  for (const fact of facts) {
    if (fact.type === "tool_execution_started") {
      const effectKey = `${uid}_${fact.itemId}`;
      const call = calls.get(`${fact.turnId}/${fact.callId}`);
      intended.add(effectKey);
      if (call === undefined) continue;
      call.intents += 1;
      if (call.intents === 1)
        call.effects += effects.filter((effect) => effect.effectKey === effectKey).length;
    }
    if (fact.type !== "item_committed") continue;
    for (const part of fact.item.parts) {
      const name = "callId" in part ? `${fact.turnId}/${part.callId}` : "";
      if (part.kind === "tool_call") calls.set(name, { part, results: [], intents: 0, effects: 0 });
      if (part.kind === "tool_result") calls.get(name)?.results.push(part);
    }
  }
  return { calls, intended };
}
