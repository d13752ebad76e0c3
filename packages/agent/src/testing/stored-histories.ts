import { callId, inputId, itemId, partId, sessionId, sessionUid } from "@millrace/core/writing";
import { packEpoch } from "@millrace/core/ports";
import type { Checkpoint, SessionStore } from "@millrace/core/ports";
import { chooseFacts } from "@millrace/core/store-kit";
import { emptyState, replay } from "@millrace/core/reading";
import { schemaVersion } from "@millrace/core/wire";
import type { Fact, Item, RunId, TurnId } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { entriesOf } from "../context/entries.ts";
import { approvalIdOf, laneItemIdOf, runIdOf, turnIdOf } from "../loop/ids.ts";

export const storedUid = sessionUid("session_1");
export const storedSession = sessionId("s");

/**
 * The facts of a random session, made from a list of numbers: runs that follow each other, calls and
 * questions, items that are exchanged, compactions, claims and resets. It may end in the middle of a run.
 */
export class StoredHistory {
  readonly facts: Fact[] = [];
  #made = 0;
  #incarnation = 1;
  #turns = 0;

  constructor(numbers: readonly number[]) {
    this.#add({ type: "session_claimed", incarnation: 1 });
    for (const number of numbers) this.#act(number % 16, Math.floor(number / 16));
  }

  #act(kind: number, choice: number): void {
    const { run } = this.#state();
    if (kind < 2) this.#prompt(choice);
    else if (run === undefined) this.#idle(kind, choice);
    else this.#inRun(run.runId, run.turn?.turnId, kind, choice);
  }

  #idle(kind: number, choice: number): void {
    const { queue, items } = this.#state();
    const [first] = queue;
    if (first !== undefined && kind < 8) return this.#begin(first.inputId);
    if (first !== undefined && kind === 8)
      this.#add({ type: "queue_updated", inputId: first.inputId, change: "taken_back" });
    else if (kind === 9) this.#add({ type: "item_committed", item: this.#item("user", choice) });
    else if (kind === 10 && items.length > 0) this.#exchange(choice);
    else if (kind === 11) this.#claim(choice);
    else this.#prompt(choice);
  }

  #inRun(runId: RunId, turnId: TurnId | undefined, kind: number, choice: number): void {
    if (turnId === undefined || kind === 2) return this.#turn(runId);
    const place = { runId, turnId };
    const epoch = this.#epoch();
    if (kind < 6) return this.#reply(place, choice);
    if (kind === 6) this.#exchange(choice);
    else if (kind === 7) {
      const item = this.#item("model", choice);
      this.#add({ type: "item_replaced", item, lane: 0, epoch, ...place });
    } else if (kind < 11) this.#compact(runId, choice);
    else if (kind === 11) this.#claim(choice);
    else if (kind === 12) {
      const usage = { inputTokens: choice, outputTokens: 1, cachedTokens: 0 };
      this.#add({ type: "usage_reported", runId, turnId, epoch, usage });
    } else if (kind === 13) {
      const input = { kind: "abort", runId } as const;
      this.#add({ type: "input_accepted", inputId: inputId(`input_${this.#next()}`), input });
    } else this.#finish(place, choice);
  }

  #prompt(choice: number): void {
    const text = "x".repeat(choice % 50);
    this.#add({
      type: "input_accepted",
      inputId: inputId(`input_${this.#next()}`),
      input: {
        kind: choice % 5 === 0 ? "follow_up" : "prompt",
        parts: [{ kind: "text", id: partId("p"), text }],
        ...(choice % 3 === 0
          ? { options: { output: { type: "object" }, limits: { turns: 3 } } }
          : {}),
      },
    });
  }

  #begin(id: ReturnType<typeof inputId>): void {
    const runId = runIdOf(id);
    this.#add({ type: "run_started", runId });
    this.#add({ type: "item_committed", item: this.#item("user", 3), runId, inputId: id });
    this.#turn(runId);
  }

  #turn(runId: RunId): void {
    this.#add({ type: "turn_started", runId, turnId: turnIdOf(runId, (this.#turns += 1)) });
  }

  #reply(place: { readonly runId: RunId; readonly turnId: TurnId }, choice: number): void {
    const { turnId } = place;
    const id = laneItemIdOf(turnId, 0);
    if (this.#state().items.findLastIndex((item) => item.id === id) >= 0)
      return this.#turn(place.runId);
    const epoch = this.#epoch();
    const called = callId(`c${choice % 4}`);
    const call = {
      kind: "tool_call",
      id: partId("c"),
      callId: called,
      tool: "t",
      raw: "{}",
      input: {},
    } as const;
    const said = { kind: "text", id: partId("p"), text: "y".repeat(choice % 80) } as const;
    const calls = choice % 2 === 0;
    const item: Item = { id, author: "model", parts: calls ? [said, call] : [said], stop: "end" };
    this.#add({ type: "item_committed", item, lane: 0, epoch, ...place });
    if (!calls) return;
    const approvalId = approvalIdOf(turnId, 1, 0);
    const asked = { callId: called, tool: "t", input: {}, hash: "h" };
    this.#add({ type: "approval_requested", approvalId, ...asked, ...place });
    if (choice % 3 === 0) return;
    this.#add({ type: "approval_resolved", approvalId, callId: called, decision: "allow" });
    const answer = laneItemIdOf(turnId, 1);
    const started = { callId: called, tool: "t", input: {}, itemId: answer, lane: 1, epoch };
    this.#add({ type: "tool_execution_started", ...started, ...place });
    if (choice % 5 === 0) return;
    const result = {
      kind: "tool_result",
      id: partId("r"),
      callId: called,
      tool: "t",
      status: "ok",
      text: "z",
    } as const;
    const answered: Item = { id: answer, author: "tool", parts: [result], stop: "end" };
    this.#add({ type: "item_committed", item: answered, lane: 1, epoch, ...place });
    this.#add({
      type: "tool_execution_finished",
      callId: called,
      tool: "t",
      status: "ok",
      ...place,
    });
  }

  #exchange(choice: number): void {
    const { items } = this.#state();
    const old = items.at(choice % Math.max(1, items.length));
    if (old === undefined || old.author === "agent") return;
    const parts = [{ kind: "text", id: partId("p"), text: `other ${choice}` }] as const;
    this.#add({ type: "item_replaced", item: { ...old, parts } });
  }

  /** Covers a section of what requests show, as the loop does. Names a summary by its id, or by what it covers. */
  #compact(runId: RunId, choice: number): void {
    const { items, compactions } = this.#state();
    const all = items.toArray();
    const entries = entriesOf(all, compactions);
    const from = choice % 3 === 0 ? choice % Math.max(1, entries.length) : 0;
    const section = entries.slice(from, from + 2 + (choice % 9));
    const first = section[0];
    const last = section.at(-1);
    this.#add({ type: "compaction_started", runId });
    const named = choice % 2 === 0;
    const begin = first && (named ? first.item.id : all[first.from]?.id);
    const end = last && (named ? last.item.id : all[last.to]?.id);
    if (section.length < 2 || begin === undefined || end === undefined) {
      this.#add({ type: "compaction_finished", runId });
      return;
    }
    const item = this.#item("agent", 10);
    this.#add({ type: "item_committed", item, lane: 0, epoch: this.#epoch(), runId });
    const summary = { itemId: item.id, first: begin, last: end };
    this.#add({ type: "compaction_finished", runId, summary });
  }

  #claim(choice: number): void {
    const last = 1 + (choice % this.facts.length);
    // A run starts together with the item of its input: a reset undoes both, or none.
    const kept = this.facts[last - 1]?.type === "run_started" ? last - 1 : last;
    const to = choice % 4 === 0 ? { to: kept } : {};
    this.#incarnation += 1;
    this.#add({ type: "session_claimed", incarnation: this.#incarnation, ...to });
  }

  #finish(
    { runId, turnId }: { readonly runId: RunId; readonly turnId: TurnId },
    choice: number,
  ): void {
    const closes = this.#epoch();
    this.#add({ type: "turn_finished", runId, turnId, stop: "end", closes });
    const outcome = choice % 3 === 0 ? "aborted" : "completed";
    this.#add({ type: "run_finished", runId, closes, outcome });
  }

  #item(author: Item["author"], size: number): Item {
    const text = `${author} ${"w".repeat(size % 90)}`;
    const id = itemId(`item_${this.#next()}`);
    return { id, author, parts: [{ kind: "text", id: partId("p"), text }], stop: "end" };
  }

  #epoch(): number {
    return packEpoch({ incarnation: this.#incarnation, generation: this.#next(), attempt: 0 });
  }

  #next(): number {
    return (this.#made += 1);
  }

  #state(): ReturnType<typeof replay> {
    return replay(emptyState(storedUid, storedSession), this.facts);
  }

  #add(body: FactBody): void {
    const n = this.facts.length + 1;
    this.facts.push({ ...body, v: schemaVersion, n, sessionId: storedSession, time: n });
  }
}

/** A store that only reads: these facts, and a checkpoint if there is one. Counts the facts that it gave out. */
export function readOnlyStore(
  facts: readonly Fact[],
  checkpoint?: Checkpoint,
): { readonly store: SessionStore; readonly given: () => number } {
  let given = 0;
  const store: Pick<SessionStore, "read" | "head" | "checkpoint"> = {
    read: async (_, options) => {
      const chosen = chooseFacts(facts, options);
      given += chosen.length;
      return chosen;
    },
    head: async () => facts.length,
    checkpoint: async () => checkpoint,
  };
  return { store: store as SessionStore, given: () => given }; // nothing else of it is called
}
