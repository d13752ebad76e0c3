import type { Fact } from "@millrace/core";

/** Whether the last run of a session has ended. */
export function isRunOver(facts: readonly Fact[]): boolean {
  const last = facts.findLast(({ type }) => type === "run_started" || type === "run_finished");
  return last?.type === "run_finished";
}
