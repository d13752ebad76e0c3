import { unpackEpoch } from "@millrace/core/ports";
import { checkTranscript } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import { assemble } from "../../../packages/agent/src/context/assemble.ts";
import { stepInputId, mainSession } from "../kit/steps.ts";
import type { Scenario } from "../scenario.ts";
import { effectKey, factsOf, must, stateOf } from "./evidence.ts";
import type { Evidence, SessionEvidence } from "./evidence.ts";

/** What holds at every instant, whenever the process is killed. Throws what does not. */
export function checkPrefix(scenario: Scenario, evidence: Evidence): void {
  for (const session of evidence.sessions) {
    checkNumbers(session);
    checkIncarnations(session);
    checkRequest(session);
    checkExecutions(session);
  }
  checkIntents(evidence);
  checkAccepted(scenario, evidence);
}

/** Facts are dense from 1. */
function checkNumbers({ facts, sessionId }: SessionEvidence): void {
  for (const [index, { n }] of facts.entries())
    must(n === index + 1, `${sessionId}: fact ${n} stands in place ${index + 1}`);
}

/** What a driver or a lane's writer stores is of the incarnation that holds the session then. */
function checkIncarnations({ facts, sessionId }: SessionEvidence): void {
  let current = 0;
  for (const fact of facts) {
    if (fact.type === "session_claimed") {
      must(fact.incarnation === current + 1, `${sessionId}: claim ${fact.n} is not the next`);
      current = fact.incarnation;
    }
    for (const epoch of epochsIn(fact)) {
      const { incarnation } = unpackEpoch(epoch);
      must(
        incarnation === current,
        `${sessionId}: fact ${fact.n} (${fact.type}) of incarnation ${incarnation} follows ${current}`,
      );
    }
  }
}

function epochsIn(fact: Fact): readonly number[] {
  const epochs = "epoch" in fact && fact.epoch !== undefined ? [fact.epoch] : [];
  return "closes" in fact ? [...epochs, fact.closes] : epochs;
}

/** What a model would be given now is legal. */
function checkRequest(session: SessionEvidence): void {
  const { items, compactions } = stateOf(session);
  const { transcript } = assemble(items.toArray(), { compactions });
  const faults = checkTranscript(transcript);
  must(faults.length === 0, `${session.sessionId}: no legal request: ${JSON.stringify(faults)}`);
}

/** A call has one answer at most, one settlement with it, and a start before that. */
function checkExecutions(session: SessionEvidence): void {
  const { facts, sessionId } = session;
  const answered = new Set<string>();
  const started = new Set<string>();
  for (const fact of facts) {
    if (fact.type === "tool_execution_started") {
      must(!answered.has(fact.itemId), `${sessionId}: ${fact.callId} starts after its answer`);
      started.add(fact.itemId);
    }
    if (fact.type !== "item_committed" || fact.item.author !== "tool") continue;
    const { id } = fact.item;
    must(!answered.has(id), `${sessionId}: ${id} is there twice`);
    answered.add(id);
    const settlement = facts[fact.n];
    const settled = settlement?.type === "tool_execution_finished";
    must(settled === started.has(id), `${sessionId}: ${id} and its settlement are apart`);
  }
  const finished = factsOf(session, "tool_execution_finished").length;
  const settled = [...started].filter((id) => answered.has(id)).length;
  must(finished === settled, `${sessionId}: ${finished} settlements of ${settled} executions`);
}

/** Each effect that happened has left its intent before. */
function checkIntents({ sessions, effects }: Evidence): void {
  const intents = new Set(
    sessions.flatMap((session) =>
      factsOf(session, "tool_execution_started").map(({ itemId }) => effectKey(session, itemId)),
    ),
  );
  for (const key of effects) must(intents.has(key), `the effect ${key} has no intent`);
}

/** Every input that was reported as accepted is stored, once. */
function checkAccepted({ script }: Scenario, { sessions, accepted }: Evidence): void {
  for (const index of accepted) {
    const step = script[index];
    if (step === undefined || !("text" in step || step.do === "abort")) continue;
    const name = step.do === "fork" ? step.as : mainSession;
    const session = sessions.find(({ sessionId }) => sessionId === name);
    const stored = session === undefined ? [] : factsOf(session, "input_accepted");
    const count = stored.filter(({ inputId }) => inputId === stepInputId(index)).length;
    must(count === 1, `the input of step ${index} was accepted, and is there ${count} times`);
  }
}
