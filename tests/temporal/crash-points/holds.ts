/** What must hold after the crash points, beside what the oracle of chaos judges after each. */
import type { Fact, ResultStatus } from "@millrace/core";
import { unpackEpoch } from "@millrace/core/ports";
import type { FactOf } from "@millrace/core/writing";
import type { Left } from "./watched-session.ts";

/** What is not as it must be. */
export type Holds = (left: Left) => readonly string[];

/** The reply was asked for once more: nothing of the killed attempt is stored. */
export const reasked: Holds = ({ facts }) => {
  const { attempt } = unpackEpoch(replyIn(facts)?.epoch ?? 0);
  // A busy machine may miss a heartbeat of a worker that lives: then it is asked for a third time.
  return attempt >= 2 ? [] : [`the reply is of attempt ${attempt}`];
};

/** The reply was stored before the kill. That it stays as it is, and the only one, is judged after each point. */
export const kept: Holds = ({ before }) =>
  replyIn(before) === undefined ? ["the reply was not stored before the kill"] : [];

/** The one effectful call was answered with this status, and took effect so often. */
export function answered(status: ResultStatus, effects: number): Holds {
  return (left) => [
    ...expectEqual("results", statusesOf(left.facts).join(), status),
    ...expectEqual("effects", left.effects.length, effects),
    ...left.children.map((pid) => `process ${pid} lives`),
  ];
}

/** The calls of one reply are answered in their order, and those that had ended are kept. */
export const keepsResults: Holds = ({ facts }) => {
  const results = facts.flatMap((fact) =>
    fact.type === "item_committed"
      ? fact.item.parts.filter((part) => part.kind === "tool_result")
      : [],
  );
  return [
    ...expectEqual("results", results.length, 4),
    ...(results.some(({ status }) => status === "ok") ? [] : ["no result was kept"]),
  ];
};

/** The context was compacted once. */
export const compacted: Holds = ({ facts }) => {
  const ends = facts.filter((fact) => fact.type === "compaction_finished");
  const summaries = ends.filter(({ summary }) => summary !== undefined);
  return [
    ...expectEqual("compactions", ends.length, 1),
    ...expectEqual("summaries", summaries.length, 1),
  ];
};

/** The run was stopped, and no process of it lives. */
export const stopped: Holds = ({ facts, children }) => [
  ...expectEqual("outcome", outcomeOf(facts), "aborted"),
  ...children.map((pid) => `process ${pid} lives`),
];

export const completed: Holds = ({ facts }) =>
  expectEqual("outcome", outcomeOf(facts), "completed");

/** The first reply of the model. */
function replyIn(facts: readonly Fact[]): FactOf<"item_committed"> | undefined {
  const isReply = (fact: Fact): fact is FactOf<"item_committed"> =>
    fact.type === "item_committed" && fact.item.author === "model";
  return facts.find(isReply);
}

function statusesOf(facts: readonly Fact[]): readonly ResultStatus[] {
  return facts.flatMap((fact) =>
    fact.type === "item_committed"
      ? fact.item.parts.flatMap((part) => (part.kind === "tool_result" ? [part.status] : []))
      : [],
  );
}

function outcomeOf(facts: readonly Fact[]): string | undefined {
  const end = facts.findLast((fact) => fact.type === "run_finished");
  return end?.outcome;
}

function expectEqual(what: string, found: unknown, wanted: unknown): readonly string[] {
  return found === wanted ? [] : [`${what}: ${String(found)} instead of ${String(wanted)}`];
}
