import type { Fact, Item, Narration, RunId, View, ViewItem } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { expect } from "vitest";

/** How a run ended by each of the places that show it. */
export interface Story {
  readonly outcome: string | undefined;
  readonly turn: string | undefined;
  /** The stop of the run's last item that no tool wrote, and how many of those were aborted. */
  readonly item: string | undefined;
  readonly aborted: number;
}

/** The story by the facts of a run: what a file keeps. */
export function storyOfFacts(facts: readonly Fact[], runId: RunId): Story {
  const own = facts.filter((fact) => "runId" in fact && fact.runId === runId);
  const finished = own.filter(
    (fact): fact is FactOf<"run_finished"> => fact.type === "run_finished",
  );
  expect(finished.length).toBeLessThanOrEqual(1);
  const started = own.filter(({ type }) => type === "turn_started").length;
  const turns = own.flatMap((fact) => (fact.type === "turn_finished" ? [fact.stop] : []));
  expect(turns).toHaveLength(started);
  return { outcome: finished[0]?.outcome, turn: turns.at(-1), ...endOf(itemsOf(own)) };
}

/** The same by the flat story that a terminal shows. */
export function storyOfNarration(told: readonly Narration[]): Story {
  const run = told.findLast((one) => one.type === "run_finished");
  const turn = told.findLast((one) => one.type === "turn_finished");
  const items = told.flatMap((one) =>
    one.type === "item_committed" || one.type === "item_replaced" ? [one.item] : [],
  );
  return {
    outcome: run?.type === "run_finished" ? run.outcome : undefined,
    turn: turn?.type === "turn_finished" ? turn.stop : undefined,
    ...endOf(items),
  };
}

type Shown = Pick<View, "lastRun" | "status"> & {
  readonly items: readonly Pick<ViewItem, "author" | "stop">[];
};

/** What a screen shows: the last run, the last item, the items that were aborted. */
export function screenOf({ lastRun, items, status }: Shown): {
  readonly status: string;
  readonly outcome: string | undefined;
  readonly item: string | undefined;
  readonly aborted: number;
} {
  const shown = items.filter(({ author }) => author !== "tool" && author !== "user");
  const aborted = shown.filter(({ stop }) => stop === "aborted").length;
  return { status, outcome: lastRun?.outcome, item: shown.at(-1)?.stop, aborted };
}

function itemsOf(facts: readonly Fact[]): readonly Item[] {
  return facts.flatMap((fact) =>
    fact.type === "item_committed" || fact.type === "item_replaced" ? [fact.item] : [],
  );
}

function endOf(items: readonly Item[]): Pick<Story, "item" | "aborted"> {
  const written = items.filter(({ author }) => author !== "tool" && author !== "user");
  const aborted = written.filter(({ stop }) => stop === "aborted").length;
  return { item: written.at(-1)?.stop, aborted };
}
