import { addUsage, noUsage } from "@millrace/core/writing";
import type { Fact, InputId, Item, ItemId, Json, JsonObject, RunId, Usage } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { runIdOf } from "../loop/ids.ts";

/** What is known of a run by its facts, besides what the loop decides on. */
export interface RunRecord {
  readonly runId: RunId;
  /** The input that began it. */
  readonly inputId: InputId;
  /** The number of the fact that accepted that input. */
  readonly n: number;
  /** The number of its start, or of a later reset that undid its stop. */
  readonly since: number;
  /** The usage of all its attempts. */
  readonly usage: Usage;
  /** The text of its last item with text, summaries excluded. */
  readonly text: string;
  /** The JSON Schema that was stored with its input. */
  readonly output?: Json;
  /** The item of the input that began it. */
  readonly prompt?: ItemId;
  readonly ended?: FactOf<"run_finished">;
  /** Why it was stopped, if its stop gave a reason. */
  readonly reason?: string;
}

interface WaitingInput {
  readonly n: number;
  readonly output?: Json;
}

/** Runs that are over, and inputs that were taken back: the latest are kept, older ones are read again. */
const mostEnded = 1_000;

/**
 * The runs of a session as far as this process has seen them: the one that is on, those that wait, and the
 * latest that are over. Bounded, however long the session is.
 */
export class RunRecords {
  readonly #runs = new Map<RunId, RunRecord>();
  readonly #waiting = new Map<InputId, WaitingInput>();
  /** The inputs that were taken back, with the numbers of the facts that accepted them. */
  readonly #takenBack = new Map<InputId, number>();
  #compacting = false;
  /** The number of the last claim. */
  #claimedAt = 0;

  get(runId: RunId): RunRecord | undefined {
    return this.#runs.get(runId);
  }

  /** The number of the fact that accepted an input which waits. */
  acceptedAt(inputId: InputId): number | undefined {
    return this.#waiting.get(inputId)?.n;
  }

  /** The number of the run's first fact, which accepted its input. Undefined if it is not known. */
  firstOf({ runId, inputId }: Pick<RunRecord, "runId" | "inputId">): number | undefined {
    return this.get(runId)?.n ?? this.acceptedAt(inputId) ?? this.#takenBack.get(inputId);
  }

  /** True if the session was claimed after each of these inputs was accepted: so for them. */
  claimedFor(inputs: readonly InputId[]): boolean {
    return inputs.every((inputId) => (this.acceptedAt(inputId) ?? Infinity) < this.#claimedAt);
  }

  takenBack(inputId: InputId): boolean {
    return this.#takenBack.has(inputId);
  }

  /** False for a run that this process has seen no fact of, or that has been over for long. */
  knows({ runId, inputId }: { readonly runId: RunId; readonly inputId: InputId }): boolean {
    return this.#runs.has(runId) || this.#waiting.has(inputId) || this.#takenBack.has(inputId);
  }

  /** Takes one more fact, in order. */
  take(fact: Fact): void {
    switch (fact.type) {
      case "input_accepted":
        return this.#accept(fact);
      case "queue_updated":
        this.#takenBack.set(fact.inputId, this.acceptedAt(fact.inputId) ?? fact.n);
        this.#waiting.delete(fact.inputId);
        return trim(this.#takenBack);
      case "run_started":
        return this.#start(fact);
      case "session_claimed":
        this.#claimedAt = fact.n;
        if (fact.to !== undefined) this.#reset(fact.n, fact.to);
        return;
      case "item_committed":
      case "item_replaced":
        return this.#store(fact);
      case "usage_reported":
        return this.#change(fact.runId, ({ usage }) => ({ usage: addUsage(usage, fact.usage) }));
      case "compaction_started":
      case "compaction_finished":
        this.#compacting = fact.type === "compaction_started";
        return;
      case "run_finished":
        this.#compacting = false;
        this.#change(fact.runId, () => ({ ended: fact }));
        return trim(this.#runs);
      default:
    }
  }

  /** Takes what was read of a run that this process has not seen. */
  adopt(read: RunRecords): void {
    for (const [runId, run] of read.#runs) if (!this.#runs.has(runId)) this.#runs.set(runId, run);
    for (const [inputId, n] of read.#takenBack) this.#takenBack.set(inputId, n);
  }

  /** What a checkpoint keeps: the run that is on, and the inputs that wait. */
  toJson(): JsonObject {
    const open = [...this.#runs.values()].filter(({ ended }) => ended === undefined);
    const waiting = [...this.#waiting];
    const kept = { open, waiting, compacting: this.#compacting, claimedAt: this.#claimedAt };
    return kept as unknown as JsonObject; // plain data
  }

  /** Reads what `toJson` made. */
  static fromJson(json: unknown): RunRecords {
    // Made by `toJson` of the same version, which its reader has checked.
    const kept = json as {
      readonly open: readonly RunRecord[];
      readonly waiting: readonly (readonly [InputId, WaitingInput])[];
      readonly compacting: boolean;
      readonly claimedAt: number;
    };
    const records = new RunRecords();
    for (const run of kept.open) records.#runs.set(run.runId, run);
    for (const [inputId, input] of kept.waiting) records.#waiting.set(inputId, input);
    records.#compacting = kept.compacting;
    records.#claimedAt = kept.claimedAt;
    return records;
  }

  #accept({ inputId, input, n }: FactOf<"input_accepted">): void {
    if (input.kind === "abort") return this.#stop(input);
    const output = "options" in input ? input.options?.["output"] : undefined;
    this.#waiting.set(inputId, { n, ...(output === undefined ? {} : { output }) });
  }

  /** Keeps the reason of the first stop: later ones change nothing. */
  #stop({
    runId,
    reason,
  }: Extract<FactOf<"input_accepted">["input"], { readonly kind: "abort" }>): void {
    if (reason === undefined) return;
    for (const run of this.#runs.values()) {
      if (run.ended !== undefined || (runId !== undefined && run.runId !== runId)) continue;
      this.#change(run.runId, () => (run.reason === undefined ? { reason } : {}));
    }
  }

  #start({ runId, n }: FactOf<"run_started">): void {
    for (const [inputId, waiting] of this.#waiting) {
      if (runIdOf(inputId) !== runId) continue;
      this.#runs.set(runId, { runId, inputId, ...waiting, since: n, usage: noUsage, text: "" });
      return;
    }
  }

  #store({ type, item, inputId, runId }: FactOf<"item_committed" | "item_replaced">): void {
    if (inputId !== undefined) this.#waiting.delete(inputId);
    if (runId === undefined) return;
    const begins = type === "item_committed" && inputId !== undefined;
    const text = this.#compacting && item.author === "agent" ? "" : textOfItem(item);
    this.#change(runId, (run) => ({
      ...(begins && run.prompt === undefined ? { prompt: item.id } : {}),
      ...(text === "" ? {} : { text }),
    }));
  }

  #change(runId: RunId, change: (run: RunRecord) => Partial<RunRecord>): void {
    const run = this.#runs.get(runId);
    if (run !== undefined) this.#runs.set(runId, { ...run, ...change(run) });
  }

  /** A run whose end was undone is on again. What it used was used all the same. */
  #reset(since: number, to: number): void {
    for (const [runId, { ended, ...run }] of this.#runs) {
      const stays = ended === undefined || ended.n > to ? {} : { ended };
      this.#runs.set(runId, { ...run, since, ...stays });
    }
  }
}

/** The records after these facts. */
export function runRecordsOf(facts: readonly Fact[]): RunRecords {
  const records = new RunRecords();
  for (const fact of facts) records.take(fact);
  return records;
}

/** The text of an item that the agent or its model wrote. */
function textOfItem({ author, parts }: Item): string {
  if (author === "user" || author === "tool") return "";
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** Drops the oldest until few enough are left. */
function trim<Key>(kept: { size: number; keys(): Iterable<Key>; delete(key: Key): boolean }): void {
  for (const key of kept.keys()) {
    if (kept.size <= mostEnded) return;
    kept.delete(key);
  }
}
