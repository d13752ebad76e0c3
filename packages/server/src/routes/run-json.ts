import { addUsage, noUsage, runIdOf } from "@millrace/core/writing";
import type { Cause, Fact, Item, Json, Usage } from "@millrace/core";
import { withoutUndone } from "@millrace/core/reading";
import { parseAnswer } from "@millrace/core/schema";
import { encodeItem } from "@millrace/core/wire";

/** A run as clients see it. */
export interface RunJson {
  readonly runId: string;
  readonly inputId: string;
  readonly status: "queued" | "running" | "paused" | "finished";
  readonly outcome?: "completed" | "aborted" | "limited" | "failed" | undefined;
  readonly limit?: string | undefined;
  readonly cause?: Cause | undefined;
  /** Of its last item with text, as far as it is stored. */
  readonly text: string;
  /** The value, if its input asked for one of a shape and it completed. */
  readonly output?: Json | undefined;
  readonly usage: Usage;
  /** Its items that are stored, each with the number of its fact; the newest ones that fit into 1 MiB. */
  readonly items: readonly { readonly n: number; readonly item: Json }[];
}

/** Bytes of items in one answer. */
const itemBytes = 1_024 * 1_024;

/**
 * A run by its facts, of which the first accepted its input. `isPaused`: the session's run waits for
 * people. A prompt that was taken back is a run that ended before it began.
 */
export function runJson(all: readonly Fact[], isPaused: boolean): RunJson | undefined {
  const facts = withoutUndone(all);
  const [first] = all;
  if (first?.type !== "input_accepted" || first.input.kind === "abort") return undefined;
  const { inputId, input } = first;
  const runId = runIdOf(inputId);
  const own = facts.filter((fact) => "runId" in fact && fact.runId === runId);
  const ended = own.findLast((fact) => fact.type === "run_finished");
  const takenBack = facts.some((fact) => fact.type === "queue_updated" && fact.inputId === inputId);
  const isOn = own.some((fact) => fact.type === "run_started");
  const text = textOf(own);
  const asked = "options" in input ? input.options?.["output"] : undefined;
  const base = { runId, inputId, text, usage: usageOf(own), items: itemsOf(own) };
  if (ended?.type === "run_finished") {
    const outcome = outcomeOf(ended);
    const output = outcome.outcome === "completed" ? outputOf(asked, text) : {};
    return { ...base, status: "finished", ...outcome, ...output };
  }
  if (takenBack) return { ...base, status: "finished", outcome: "aborted" };
  return { ...base, status: isOn ? (isPaused ? "paused" : "running") : "queued" };
}

function outcomeOf(
  ended: Extract<Fact, { readonly type: "run_finished" }>,
): Pick<RunJson, "outcome" | "limit" | "cause"> {
  switch (ended.outcome) {
    case "limited":
      return { outcome: "limited", limit: ended.limit };
    case "failed":
      return { outcome: "failed", cause: ended.cause };
    default:
      return { outcome: ended.outcome };
  }
}

function outputOf(asked: Json | undefined, text: string): Pick<RunJson, "output"> {
  const parsed = asked === undefined ? undefined : parseAnswer(text);
  return parsed?.ok === true ? { output: parsed.value } : {}; // its driver had no schema to check it by
}

function usageOf(own: readonly Fact[]): Usage {
  return own.reduce(
    (usage, fact) => (fact.type === "usage_reported" ? addUsage(usage, fact.usage) : usage),
    noUsage,
  );
}

/** The text of the last item with text that the agent or its model wrote, summaries excluded. */
function textOf(own: readonly Fact[]): string {
  let [text, compacting] = ["", false];
  for (const fact of own) {
    if (fact.type === "compaction_started") compacting = true;
    if (fact.type === "compaction_finished") compacting = false;
    if (fact.type !== "item_committed" && fact.type !== "item_replaced") continue;
    if (compacting && fact.item.author === "agent") continue;
    text = itemText(fact.item) || text;
  }
  return text;
}

function itemText({ author, parts }: Item): string {
  if (author === "user" || author === "tool") return "";
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

function itemsOf(own: readonly Fact[]): RunJson["items"] {
  const latest = new Map<string, { readonly n: number; item: Item }>();
  for (const fact of own) {
    if (fact.type !== "item_committed" && fact.type !== "item_replaced") continue;
    const { n, item } = fact;
    const known = latest.get(item.id);
    if (known === undefined) latest.set(item.id, { n, item });
    else known.item = item;
  }
  const kept: { readonly n: number; readonly item: Json }[] = [];
  let room = itemBytes;
  for (const { n, item } of [...latest.values()].toReversed()) {
    const encoded = encodeItem(item);
    room -= JSON.stringify(encoded).length;
    if (room < 0 && kept.length > 0) break;
    kept.push({ n, item: encoded });
  }
  return kept.toReversed();
}
