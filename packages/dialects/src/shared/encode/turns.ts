import type { Fact, InputId, Item } from "@millrace/core";
import { withoutUndone } from "@millrace/core/reading";
import { inputItemIdOf } from "@millrace/core/writing";

/** What a person sent. */
export type SaidItem = Pick<Item, "id" | "parts">;

/** A piece of a session's past: what a person sent between runs, or a run. */
export type Turn =
  | { readonly kind: "said"; readonly item: SaidItem; readonly isWaiting: boolean }
  /** The facts of one run, or of what a session began with before its first (`isRun` is false). */
  | {
      readonly kind: "run";
      readonly id: string;
      readonly isRun: boolean;
      readonly facts: readonly Fact[];
    };

/** A session as what people sent and the runs that answered, in order. Prompts that wait come last. */
export function turnsOf(facts: readonly Fact[]): readonly Turn[] {
  const turns: Turn[] = [];
  const waiting = new Map<InputId, SaidItem>();
  let run: (Extract<Turn, { kind: "run" }> & { readonly facts: Fact[] }) | undefined;
  const end = (): void => {
    if (run !== undefined) turns.push(run);
    run = undefined;
  };
  for (const fact of withoutUndone(facts)) {
    if (fact.type === "run_started") {
      end();
      run = { kind: "run", id: fact.runId, isRun: true, facts: [] };
    }
    if (fact.type === "input_accepted" && fact.input.kind === "prompt") {
      const { inputId, input } = fact;
      waiting.set(inputId, { id: inputItemIdOf(inputId), parts: input.parts });
    }
    if (fact.type === "queue_updated") waiting.delete(fact.inputId);
    if (fact.type === "item_committed") {
      const { item, inputId } = fact;
      if (inputId !== undefined) waiting.delete(inputId);
      if (item.author === "user" && run?.isRun !== true) end();
      const isPrompt = item.author === "user" && run?.facts.some(isReply) !== true;
      if (isPrompt) turns.push({ kind: "said", item, isWaiting: false });
      else run ??= { kind: "run", id: item.id, isRun: false, facts: [] };
    }
    run?.facts.push(fact);
    if (fact.type === "run_finished") end();
  }
  end();
  for (const item of waiting.values()) turns.push({ kind: "said", item, isWaiting: true });
  return turns;
}

function isReply(fact: Fact): boolean {
  return fact.type === "item_committed" && fact.item.author !== "user";
}
