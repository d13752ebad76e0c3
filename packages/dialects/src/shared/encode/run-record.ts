import type { Fact, Item, RunId, SessionId, SessionState, SessionUid } from "@millrace/core";
import { apply, emptyState, replay, restore } from "@millrace/core/reading";
import type { Followed, Snapshot } from "@millrace/core/reading";
import { idTail, List, noUsage } from "@millrace/core/writing";
import type { FactOf } from "@millrace/core/writing";
import { isWaiting } from "./waiting.ts";

/** A question about a call, with its answer once there is one. */
export interface Asked {
  readonly question: FactOf<"approval_requested">;
  /** The item that holds the call. */
  readonly itemId: string | undefined;
  readonly answer?: FactOf<"approval_resolved"> | undefined;
}

/**
 * One run of a session, as far as it is known: what every dialect shows of it. A dialect's message is a run:
 * several model calls with the tools between them.
 */
export interface RunRecord {
  /** The state of the session, with no items but those of the run. */
  readonly state: SessionState;
  /**
   * `coming`: its prompt waits. `waiting`: nothing goes on before a person or a client has answered.
   * `gone`: its prompt was taken back.
   */
  readonly phase: "coming" | "on" | "waiting" | "over" | "gone";
  /** The questions of the run, also those of a run that is over. */
  readonly asked: readonly Asked[];
  readonly ended: FactOf<"run_finished"> | undefined;
  /** Which fact stored an item, and by which epoch. Items that no fact of these stored are not in it. */
  readonly stored: ReadonlyMap<string, StoredBy>;
}

/** The fact that stored an item as it is now. */
export interface StoredBy {
  readonly n: number;
  /** Of the lane that wrote it, if what it wrote is what was stored. */
  readonly epoch: number | undefined;
}

/** Which run, and after which fact its reader begins. */
export interface FollowedRun {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** A fact before the run's start. */
  readonly head: number;
}

/** Follows one run through the messages of its session. Pure: the same messages give the same record. */
export class RunFollower {
  readonly #runId: RunId;
  #state: SessionState;
  #phase: "coming" | "on" | "over" | "gone" = "coming";
  #asked: readonly Asked[] = [];
  #ended: FactOf<"run_finished"> | undefined;
  readonly #stored = new Map<string, StoredBy>();

  constructor({ uid, sessionId, runId, head }: FollowedRun) {
    this.#runId = runId;
    this.#state = { ...emptyState(uid, sessionId), head };
  }

  get record(): RunRecord {
    const phase = this.#phase === "on" && isWaiting(this.#state) ? "waiting" : this.#phase;
    const [state, asked, ended, stored] = [this.#state, this.#asked, this.#ended, this.#stored];
    return { state, phase, asked, ended, stored };
  }

  /** Whether its prompt was taken back: nothing will come of it. */
  get isGone(): boolean {
    return this.#phase === "gone";
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Takes the next message of the session. False: it changed nothing. */
  take(message: Followed["message"]): boolean {
    if (this.#phase === "over" || this.#phase === "gone") return false;
    if ("closedLanes" in message) return this.#begin(message);
    const { state, verdict } = apply(this.#state, message);
    if (verdict !== "applied") return false;
    this.#state = state;
    if ("n" in message) this.#note(message);
    return true;
  }

  #note(fact: Fact): void {
    if (fact.type === "run_started" && fact.runId === this.#runId) {
      this.#phase = "on";
      this.#state = { ...this.#state, items: List.of(), usage: noUsage };
    }
    if (fact.type === "queue_updated" && this.#phase === "coming") {
      if (idTail(fact.inputId) === idTail(this.#runId)) this.#phase = "gone";
    }
    if (this.#phase !== "on") return;
    if (fact.type === "run_finished") {
      this.#phase = "over";
      this.#ended = fact;
    }
    if (fact.type === "item_committed" || fact.type === "item_replaced") {
      const epoch = fact.type === "item_committed" ? fact.epoch : undefined;
      this.#stored.set(fact.item.id, { n: fact.n, epoch });
    }
    this.#asked = withQuestions(this.#asked, fact, this.#state);
  }

  /** A snapshot in the place of what was known: it may have undone some of it. */
  #begin(taken: Snapshot): true {
    const state = restore(taken);
    const { run, ended, queue } = state;
    const isOn = run?.runId === this.#runId;
    const isComing = queue.some(({ inputId }) => idTail(inputId) === idTail(this.#runId));
    const items = isComing ? [] : itemsOf(this.#runId, state.items.toArray(), isOn);
    this.#state = { ...state, items: List.of(items) };
    this.#phase = isOn ? "on" : isComing ? "coming" : "over";
    if (this.#phase === "over" && ended?.runId === this.#runId) this.#ended = ended;
    const known = state.approvals.map(({ asked: question, answer }) => {
      return { question, itemId: holderOf(question, state), answer };
    });
    if (isOn) this.#asked = known;
    return true;
  }
}

/** A run that is over or stands still, of its facts. */
export function recordOf(
  { uid, sessionId }: Pick<FollowedRun, "uid" | "sessionId">,
  facts: readonly Fact[],
): RunRecord {
  const state = replay(emptyState(uid, sessionId), facts);
  const stored = new Map<string, StoredBy>();
  let asked: readonly Asked[] = [];
  for (const fact of facts) {
    if (fact.type === "item_committed") stored.set(fact.item.id, { n: fact.n, epoch: fact.epoch });
    asked = withQuestions(asked, fact, state);
  }
  const { ended } = state;
  const phase = ended !== undefined ? "over" : isWaiting(state) ? "waiting" : "on";
  return { state, phase, asked, ended, stored };
}

function withQuestions(asked: readonly Asked[], fact: Fact, state: SessionState): readonly Asked[] {
  if (fact.type === "approval_requested")
    return [...asked, { question: fact, itemId: holderOf(fact, state) }];
  if (fact.type !== "approval_resolved") return asked;
  // Answered once: a second answer is a fact too, and changes nothing.
  return asked.map((each) =>
    each.question.approvalId === fact.approvalId && each.answer === undefined
      ? { ...each, answer: fact }
      : each,
  );
}

/** The reply of the question's turn. Call ids may come again in later turns. */
function holderOf(
  { callId, turnId }: FactOf<"approval_requested">,
  { items }: SessionState,
): string | undefined {
  const holders = items
    .toArray()
    .filter(({ parts }) =>
      parts.some((part) => part.kind === "tool_call" && part.callId === callId),
    );
  const own = holders.find(({ id }) => id.startsWith(`item_${idTail(turnId)}_`));
  return (own ?? holders.at(-1))?.id;
}

/** The items of a run among those of its session: what follows its prompt, up to the last that it wrote. */
function itemsOf(runId: RunId, items: readonly Item[], isOn: boolean): readonly Item[] {
  const tail = idTail(runId);
  const prompt = items.findIndex(({ id }) => id === `item_${tail}`);
  const end = isOn
    ? items.length
    : items.findLastIndex(({ id }) => id === `item_${tail}` || id.startsWith(`item_${tail}_`)) + 1;
  return items.slice(Math.max(0, prompt), end);
}
