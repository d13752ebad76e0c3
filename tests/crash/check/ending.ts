import type { Item, ToolResultPart } from "@millrace/core";
import type { Scenario, UserStep } from "../scenario.ts";
import { mainSession, stepInputId } from "../kit/steps.ts";
import { effectKey, factsOf, must, stateOf } from "./evidence.ts";
import type { Evidence, SessionEvidence } from "./evidence.ts";

/** The effect that a tool of this name declares. */
export type EffectOf = (tool: string) => "pure" | "idempotent" | "effectful";

/** What holds once a process has ended by itself. Throws what does not. */
export function checkEnding(scenario: Scenario, evidence: Evidence, effectOf: EffectOf): void {
  for (const session of evidence.sessions) {
    checkRuns(session);
    checkCalls(session);
    checkEffects(session, evidence, effectOf);
  }
  checkSteps(scenario, evidence);
}

/** Every run has ended, and nothing is on. */
function checkRuns(session: SessionEvidence): void {
  const { sessionId } = session;
  const started = factsOf(session, "run_started").map(({ runId }) => runId);
  const finished = factsOf(session, "run_finished").map(({ runId }) => runId);
  must(
    JSON.stringify(started) === JSON.stringify(finished),
    `${sessionId}: runs ${started.join()} started, ${finished.join()} finished`,
  );
  must(stateOf(session).run === undefined, `${sessionId}: a run is on`);
}

/** Every call has exactly one result, in an item of its own or in the reply. */
function checkCalls(session: SessionEvidence): void {
  const items = stateOf(session).items.toArray();
  const calls = items.flatMap(({ parts }) => parts.filter((part) => part.kind === "tool_call"));
  const results = resultsIn(items);
  const ids = (parts: readonly { readonly callId: string }[]): string =>
    parts
      .map(({ callId }) => callId)
      .toSorted()
      .join();
  // An id may come again in a later turn, and has a result each time.
  must(
    ids(calls) === ids(results),
    `${session.sessionId}: the calls ${ids(calls)} have the results ${ids(results)}`,
  );
}

/**
 * Effectful: at most once, and recorded as done only if that is known. Others: done if recorded as
 * done.
 */
function checkEffects(session: SessionEvidence, evidence: Evidence, effectOf: EffectOf): void {
  const { sessionId, facts } = session;
  const { effects } = evidence;
  const items = stateOf(session).items.toArray();
  const answers = new Map(items.map((item) => [item.id, resultsIn([item])[0]]));
  for (const { itemId, tool, n, time } of factsOf(session, "tool_execution_started")) {
    // A branch begins with the facts of its source, whose effects are counted there.
    const source = session === mainOf(evidence) ? undefined : mainOf(evidence).facts[n - 1];
    if (source?.type === "tool_execution_started" && source.time === time) continue;
    const count = effects.filter((key) => key === effectKey(session, itemId)).length;
    const answer = answers.get(itemId);
    const status = answer?.status;
    const about = `${sessionId}: ${tool} for ${itemId} is ${status}, and its effect happened ${count} times`;
    must(status !== undefined, about);
    // An answer that no tool wrote may not claim that nothing was done.
    if (answer?.synthetic === true && effectOf(tool) !== "pure")
      must(status === "unknown", `${about}: ${answer.text}`);
    if (effectOf(tool) !== "effectful") continue;
    must(count <= 1, about);
    const starts = facts.filter(
      (fact) => fact.type === "tool_execution_started" && fact.itemId === itemId,
    );
    must(starts.length === 1, `${about}; started again by fact ${n}`);
    if (status === "ok" || status === "failed") must(count === 1, about);
    if (status === "denied") must(count === 0, about);
  }
}

/** What was sent became an item, was taken back, or waits. */
function checkSteps({ script, leaves = 0 }: Scenario, evidence: Evidence): void {
  for (const [index, step] of script.entries()) {
    must(evidence.accepted.has(index), `step ${index} was never accepted`);
    if (!("text" in step)) continue;
    const session = sessionOf(evidence, step);
    const id = stepInputId(index);
    const became = factsOf(session, "item_committed").filter(({ inputId }) => inputId === id);
    const taken = factsOf(session, "queue_updated").filter(({ inputId }) => inputId === id);
    const waits = stateOf(session).queue.filter(({ inputId }) => inputId === id);
    const fates = became.length + taken.length + waits.length;
    must(fates === 1, `the input of step ${index} has ${fates} fates`);
  }
  const { length } = stateOf(mainOf(evidence)).queue;
  must(length === leaves, `${length} inputs wait, not ${leaves}`);
}

function sessionOf(evidence: Evidence, step: UserStep): SessionEvidence {
  const name = step.do === "fork" ? step.as : mainSession;
  const session = evidence.sessions.find(({ sessionId }) => sessionId === name);
  must(session !== undefined, `there is no session ${name}`);
  return session;
}

/** The session that the script is about. */
function mainOf({ sessions }: Evidence): SessionEvidence {
  const session = sessions.find(({ sessionId }) => sessionId === mainSession);
  must(session !== undefined, "there is no session");
  return session;
}

export function resultsIn(items: readonly Item[]): readonly ToolResultPart[] {
  return items.flatMap(({ parts }) => parts.filter((part) => part.kind === "tool_result"));
}
