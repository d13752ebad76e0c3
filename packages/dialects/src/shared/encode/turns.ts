import type { Fact, Item, SessionState } from "@millrace/core";
import { withoutUndone } from "@millrace/core/reading";
import { inputItemIdOf } from "@millrace/core/writing";

/** What a person sent. */
export type UserItem = Pick<Item, "id" | "parts">;

/** A piece of a session's past: what a person sent between runs, or a run. */
export type HistoryTurn =
  | { readonly kind: "user"; readonly item: UserItem }
  /** The facts of one run, or of what a session began with before its first (`isRun` is false). */
  | {
      readonly kind: "run";
      readonly id: string;
      readonly isRun: boolean;
      readonly facts: readonly Fact[];
    };

/**
 * A session as what people sent and the runs that answered, in order; prompts that wait come last. Of a session's
 * last facts these are its last turns: what is not from its first fact on among them is left out.
 */
export function turnsOf(
  facts: readonly Fact[],
  state: Pick<SessionState, "queue" | "run">,
): readonly HistoryTurn[] {
  const turns: HistoryTurn[] = [];
  let run: (Extract<HistoryTurn, { kind: "run" }> & { readonly facts: Fact[] }) | undefined;
  const end = (): void => {
    if (run !== undefined) turns.push(run);
    run = undefined;
  };
  const live = withoutUndone(facts);
  for (const fact of facts[0]?.n === 1 ? live : fromTurn(live, state)) {
    if (fact.type === "run_started") {
      end();
      run = { kind: "run", id: fact.runId, isRun: true, facts: [] };
    }
    if (fact.type === "item_committed") {
      const { item } = fact;
      if (item.author === "user" && run?.isRun !== true) end();
      const isPrompt = item.author === "user" && run?.facts.some(isReply) !== true;
      if (isPrompt) turns.push({ kind: "user", item });
      else run ??= { kind: "run", id: item.id, isRun: false, facts: [] };
    }
    run?.facts.push(fact);
    if (fact.type === "run_finished") end();
  }
  end();
  for (const { inputId, input } of state.queue)
    if (input.kind === "prompt")
      turns.push({ kind: "user", item: { id: inputItemIdOf(inputId), parts: input.parts } });
  return turns;
}

/** The facts from the first turn on that is there from its beginning. */
function fromTurn(live: readonly Fact[], { run }: Pick<SessionState, "run">): readonly Fact[] {
  const edge = live.find(({ type }) => type === "run_started" || type === "run_finished");
  if (edge?.type === "run_finished") return live.slice(live.indexOf(edge) + 1);
  if (edge === undefined && run !== undefined) return [];
  // Before the start of a run no other is on, and what a person sent there is a turn of its own.
  const first = live.findIndex((fact) => fact === edge || isUserInput(fact));
  return first < 0 ? [] : live.slice(first);
}

function isUserInput(fact: Fact): boolean {
  return fact.type === "item_committed" && fact.item.author === "user";
}

function isReply(fact: Fact): boolean {
  return fact.type === "item_committed" && fact.item.author !== "user";
}
