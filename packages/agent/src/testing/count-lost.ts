import type { Fact, RunId } from "@millrace/core";
import { laneItemIdOf } from "../loop/ids.ts";

interface Call {
  readonly callId: string;
  isAsked: boolean;
  isStarted: boolean;
  isClients: boolean;
}

/** What a run has lost: requests in all, and drivers in a row. */
export interface Lost {
  readonly requests: number;
  readonly inRow: number;
}

/** Counts by the facts what a run has lost, for tests: the same as the loop's own count, in another way. */
export function countLost(facts: readonly Fact[], runId: RunId): Lost {
  const counter = new LostCounter(runId);
  for (const fact of facts) counter.add(fact);
  return { requests: counter.requests, inRow: counter.inRow };
}

class LostCounter {
  readonly #runId: RunId;
  requests = 0;
  inRow = 0;
  #isReleased = false;
  #isCompacting = false;
  #isAsking = false;
  /** The calls of the turn that have no result, by the ids of their results. */
  readonly #open = new Map<string, Call>();

  constructor(runId: RunId) {
    this.#runId = runId;
  }

  add(fact: Fact): void {
    if (fact.type === "approval_resolved") {
      this.#resolve(fact.callId);
      return;
    }
    if (fact.type === "session_claimed") {
      const resumes = fact.resumes === this.#runId && fact.to === undefined;
      if (resumes && !this.#isReleased && !this.#waits()) this.#lose();
      this.#isReleased = false;
      return;
    }
    if (!("runId" in fact) || fact.runId !== this.#runId) return;
    if (fact.type === "session_released") this.#isReleased = true;
    else if (fact.type === "usage_reported" && fact.lost === true) this.#lose();
    else {
      const begun =
        fact.type === "tool_execution_started" ? this.#open.get(fact.itemId) : undefined;
      if (begun?.isStarted !== true) this.inRow = 0;
      this.#take(fact);
    }
  }

  #lose(): void {
    this.inRow += 1;
    if (this.#isAsking || this.#isCompacting) this.requests += 1;
  }

  #waits(): boolean {
    const calls = [...this.#open.values()];
    return (
      calls.length > 0 && calls.every((call) => call.isAsked || (call.isClients && call.isStarted))
    );
  }

  #resolve(callId: string): void {
    const asked = [...this.#open.values()].filter((call) => call.callId === callId && call.isAsked);
    for (const call of asked) call.isAsked = false;
    if (asked.length > 0) this.inRow = 0;
  }

  #take(fact: Fact): void {
    switch (fact.type) {
      case "turn_started":
        this.#isAsking = true;
        return;
      case "turn_finished":
        this.#isAsking = false;
        return;
      case "compaction_started":
      case "compaction_finished":
        this.#isCompacting = fact.type === "compaction_started";
        return;
      case "approval_requested":
        for (const call of this.#open.values()) call.isAsked ||= call.callId === fact.callId;
        return;
      case "tool_execution_started": {
        const call = this.#open.get(fact.itemId);
        if (call !== undefined) {
          call.isStarted = true;
          call.isClients = fact.client === true;
        }
        return;
      }
      case "item_committed": {
        const { item, turnId } = fact;
        this.#open.delete(item.id);
        if (turnId === undefined || item.id !== laneItemIdOf(turnId, 0)) return;
        this.#isAsking = false;
        const calls = item.parts.flatMap((part) =>
          part.kind === "tool_call" ? [part.callId] : [],
        );
        for (const [at, callId] of calls.entries()) {
          if (calls.indexOf(callId) < at) continue; // answered by the result of the first
          const call = { callId, isAsked: false, isStarted: false, isClients: false };
          this.#open.set(laneItemIdOf(turnId, at + 1), call);
        }
        return;
      }
      default:
    }
  }
}
