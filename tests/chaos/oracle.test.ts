import { beforeAll, describe, expect, it } from "vitest";
import type { Fact } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import type { Message } from "@millrace/core/wire";
import { ViewerChecks } from "../kit/deployment/viewer-checks.ts";
import { judge } from "./oracle.ts";
import type { SessionHistory } from "./oracle.ts";
import { recordHistory, watch } from "./recorded-history.ts";
import type { RecordedHistory } from "./recorded-history.ts";

let recorded: RecordedHistory;

beforeAll(async () => {
  recorded = await recordHistory();
});

function kindsOf(history: SessionHistory): readonly string[] {
  return judge(history).map(({ kind }) => kind);
}

/** The facts, changed and numbered anew. The viewer is as it was, so that it differs too. */
function withFacts(change: (facts: readonly Fact[]) => readonly Fact[]): SessionHistory {
  const facts = change(recorded.history.facts).map((fact, at) => ({ ...fact, n: at + 1 }));
  return { ...recorded.history, facts };
}

/** Without the first fact for which this holds. There is one. */
function without(facts: readonly Fact[], isIt: (fact: Fact) => boolean): readonly Fact[] {
  const at = facts.findIndex(isIt);
  if (at < 0) throw new Error("there is no such fact in the recorded history");
  return facts.toSpliced(at, 1);
}

/** With a copy of the first fact for which this holds right behind it, changed. */
function doubled<T extends Fact>(
  facts: readonly Fact[],
  isIt: (fact: Fact) => fact is T,
  change: (fact: T) => Fact = (fact) => fact,
): readonly Fact[] {
  const at = facts.findIndex(isIt);
  const fact = facts[at];
  if (fact === undefined || !isIt(fact)) throw new Error("there is no such fact to double");
  return facts.toSpliced(at + 1, 0, change(fact));
}

type ItemFact = FactOf<"item_committed">;

const isItemOf =
  (author: ItemFact["item"]["author"]) =>
  (fact: Fact): fact is ItemFact =>
    fact.type === "item_committed" && fact.item.author === author;

const isOf =
  <Type extends Fact["type"]>(type: Type) =>
  (fact: Fact): fact is FactOf<Type> =>
    fact.type === type;

const isPrompt = (fact: Fact): fact is FactOf<"input_accepted"> =>
  fact.type === "input_accepted" && fact.input.kind === "prompt";

/** The item with other text in its first part. */
function retold(fact: ItemFact, change: (text: string) => string): ItemFact {
  const [first, ...rest] = fact.item.parts;
  if (first?.kind !== "text") throw new Error("the item begins with no text");
  return {
    ...fact,
    item: { ...fact.item, parts: [{ ...first, text: change(first.text) }, ...rest] },
  };
}

/** The messages of the viewer, the first of which for which this holds is changed. */
function seeing(
  isIt: (message: Message) => boolean,
  change: (message: Message) => readonly Message[],
): SessionHistory {
  const { messages, history } = recorded;
  const at = messages.findIndex(isIt);
  const message = messages[at];
  if (message === undefined) throw new Error("there is no such message in the recorded history");
  return { ...history, viewers: [watch(messages.toSpliced(at, 1, ...change(message)))] };
}

const violations: Readonly<Record<string, () => SessionHistory>> = {
  "not dense": () => ({ ...recorded.history, facts: recorded.history.facts.toSpliced(3, 1) }),
  "claim goes back": () => withFacts((facts) => doubled(facts, isOf("session_claimed"))),
  "run bounds": () => withFacts((facts) => doubled(facts, isOf("run_finished"))),
  "turn bounds": () => withFacts((facts) => doubled(facts, isOf("turn_started"))),
  "run left": () => withFacts((facts) => facts.slice(0, facts.findLastIndex(isOf("run_finished")))),
  "run failed": () =>
    withFacts((facts) =>
      facts.map((fact) =>
        fact.type === "run_finished"
          ? { ...fact, outcome: "failed", cause: { code: "internal", message: "planted" } }
          : fact,
      ),
    ),
  "item twice": () => withFacts((facts) => doubled(facts, isItemOf("model"))),
  "broken text": () =>
    withFacts((facts) =>
      doubled(without(facts, isItemOf("model")), isItemOf("user"), (user) => {
        const reply = recorded.history.facts.find(isItemOf("model"));
        return reply === undefined ? user : retold(reply, (text) => text.slice(1));
      }),
    ),
  "input lost": () => withFacts((facts) => without(facts, isPrompt)),
  "input doubled": () =>
    withFacts((facts) =>
      doubled(facts, isItemOf("user"), (fact) => ({
        ...fact,
        item: { ...fact.item, id: "item_copy" as ItemFact["item"]["id"] }, // of a test alone
      })),
    ),
  "refused and stored": () => ({
    ...recorded.history,
    sent: recorded.history.sent.map((command) => ({ ...command, outcome: "refused" })),
  }),
  "taken back and used": () =>
    withFacts((facts) =>
      doubled(facts, isOf("queue_updated"), (fact) => {
        const [used] = facts.filter(isItemOf("user"));
        return { ...fact, inputId: used?.inputId ?? fact.inputId };
      }),
    ),
  "answer lost": () => withFacts((facts) => without(facts, isOf("approval_resolved"))),
  "approval twice": () => withFacts((facts) => doubled(facts, isOf("approval_resolved"))),
  "effect twice": () => ({
    ...recorded.history,
    effects: recorded.history.effects.flatMap((effect) => [effect, effect]),
  }),
  "effect without intent": () =>
    withFacts((facts) => without(facts, isOf("tool_execution_started"))),
  "effect lost": () => ({ ...recorded.history, effects: [] }),
  "effect of a denied call": () =>
    withFacts((facts) =>
      facts.map((fact): Fact => {
        if (!isItemOf("tool")(fact)) return fact;
        const parts = fact.item.parts.map((part) =>
          part.kind === "tool_result" ? { ...part, status: "denied" as const } : part,
        );
        return { ...fact, item: { ...fact.item, parts } };
      }),
    ),
  "call answers": () => withFacts((facts) => without(facts, isItemOf("tool"))),
  "viewer differs": () => withFacts((facts) => [...facts, ...facts.slice(-1)]),
  unverified: () => ({ ...recorded.history, verified: false }),
};

describe("the oracle", () => {
  it("finds nothing in a history without faults", () => {
    expect(judge(recorded.history)).toEqual([]);
  });

  it.each(Object.entries(violations))("finds a planted violation: %s", (kind, plant) => {
    expect(kindsOf(plant())).toContain(kind);
  });
});

describe("a viewer", () => {
  const hasText = (message: Message): boolean =>
    "events" in message && JSON.stringify(message.events).includes("append_text");

  it("finds live text that is no prefix of its item", () => {
    const changed = seeing(hasText, (message) => [
      JSON.parse(JSON.stringify(message).replace('"chunk":"', '"chunk":"?')) as Message,
    ]);

    expect(changed.viewers[0]?.faults.join()).toMatch(/is no prefix of item|does not fit/);
  });

  it("finds a message that was left out", () => {
    const changed = seeing(hasText, () => []);

    expect(changed.viewers[0]?.faults.join()).toContain("does not fit");
  });

  it("finds a state that is older than the one that it was shown", () => {
    const { messages, history } = recorded;
    const [first] = messages;
    if (first === undefined) throw new Error("the viewer saw nothing");
    const changed = { ...history, viewers: [watch([...messages, first])] };

    expect(changed.viewers[0]?.faults.join()).toContain("a snapshot of");
    expect(kindsOf(changed)).toContain("viewer saw");
  });

  it("finds a reload that shows an older state", () => {
    const [first] = recorded.messages;
    if (first === undefined) throw new Error("the viewer saw nothing");
    const checks = new ViewerChecks();
    for (const message of recorded.messages) checks.take(message);
    checks.reload();
    checks.take(first);

    expect(checks.faults.join()).toContain("a snapshot of");
  });
});
