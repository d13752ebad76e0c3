import { MillraceError } from "../errors.ts";
import { apply } from "../event/apply.ts";
import type { Fact, FactOf, Input } from "../event/event.ts";
import { reduceFact } from "../event/reduce.ts";
import { withoutUndone } from "../event/undone.ts";
import { emptyState } from "../event/state.ts";
import type { QueuedInput, SessionState } from "../event/state.ts";
import type { Item } from "../content/item.ts";
import { List } from "../list.ts";
import { laneItemIdOf, sessionId } from "../ids.ts";
import type { ApprovalId, CallId, InputId, ItemId, RunId, SessionUid, TurnId } from "../ids.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { isReset } from "../store-kit/store-row.ts";
import { runIdOf } from "./ids.ts";

export interface InboxStateOptions {
  readonly store: Pick<SessionStore, "read">;
  readonly uid: SessionUid;
  /** The session as the caller has just read it. Left out, or without an answer: all facts are read. */
  readonly start?: (() => Promise<InboxStart | undefined>) | undefined;
}

/** A session that is known without its past. */
export interface InboxStart {
  readonly state: SessionState;
  /** The fact since which the run is on, see `KnownSession.since`. */
  readonly since: number;
  /** The number of the fact that accepted an input of the queue. */
  readonly acceptedAt: (inputId: InputId) => number | undefined;
}

/** An input that was accepted, without its content. */
export interface IndexedInput {
  readonly n: number;
  readonly kind: Input["kind"];
  /** The run that a stop names. */
  readonly runId?: RunId | undefined;
  /** The fact that took it back. */
  takenBack?: number;
}

/** A call of a reply, which one item answers. */
export interface IndexedCall {
  readonly callId: CallId;
  readonly tool: string;
  /** The item that holds the call. */
  readonly holder: ItemId;
  readonly turnId: TurnId;
  /** The item that answers it. */
  readonly answer: ItemId;
  settled: boolean;
}

/**
 * What an inbox has read of its session's facts: the state that readers fold, and an index by which
 * repeats are recognised. It holds no content, so it may be kept for as long as the session is used.
 */
export class InboxState {
  readonly #options: InboxStateOptions;
  readonly inputs: Map<InputId, IndexedInput> = new Map();
  /** Each question, with its answer if it has one. */
  readonly questions: Map<ApprovalId, FactOf<"approval_resolved"> | undefined> = new Map();
  /** In the order of the calls. */
  #calls: IndexedCall[] = [];
  #state: SessionState;
  #since = 0;
  /** True once facts were read here. Until then the caller's knowledge is taken, without its past. */
  #reads = false;

  constructor(options: InboxStateOptions) {
    this.#options = options;
    this.#state = this.#empty();
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The fact since which the run is on: its start, or a later reset that undid its stop. */
  get since(): number {
    return this.#since;
  }

  /** Reads the facts that are not known yet. Rejects if the store does. */
  async catchUp(): Promise<void> {
    const { store, uid, start } = this.#options;
    const known = this.#reads ? undefined : await start?.();
    if (known !== undefined) return this.#startFrom(known);
    this.#reads = true;
    const { head } = this.#state;
    const facts = await store.read(uid, { after: head });
    // A reset undoes facts that were read, so all are read again.
    if (facts.some(isReset)) this.#begin(head === 0 ? facts : await store.read(uid));
    else for (const fact of facts) this.#take(fact);
  }

  /** Reads the past, for what was not found without it. Once: later calls do nothing. */
  async readPast(): Promise<void> {
    const { store, uid } = this.#options;
    if (this.#reads) return;
    this.#begin(await store.read(uid));
    this.#reads = true;
  }

  /** The latest call of this id, or the one that an item holds. */
  findCall(callId: CallId, holder?: ItemId): IndexedCall | undefined {
    return this.#calls.findLast(
      (call) => call.callId === callId && (holder === undefined || call.holder === holder),
    );
  }

  /** True while an answer to the call is taken. */
  isOpen({ settled, turnId }: IndexedCall): boolean {
    const turn = this.#state.run?.turn;
    return !settled && turn?.turnId === turnId && turn.stop === undefined;
  }

  /** The run that is on, or the one that begins next. */
  currentRun(): RunId | undefined {
    const next = this.#state.queue.find((queued) => this.#begins(queued));
    return this.#state.run?.runId ?? (next && runIdOf(next.inputId));
  }

  /** The input that waits to begin this run. */
  waitingFor(runId: RunId): InputId | undefined {
    const { queue } = this.#state;
    return queue.find(({ input, inputId }) => input.kind !== "answer" && runIdOf(inputId) === runId)
      ?.inputId;
  }

  /** After a stop, what was sent for the stopped run waits for the next prompt. */
  #begins({ input, inputId }: QueuedInput): boolean {
    if (input.kind === "prompt" || input.kind === "answer") return input.kind === "prompt";
    const { ended } = this.#state;
    return ended?.outcome !== "aborted" || (this.inputs.get(inputId)?.n ?? 0) > ended.n;
  }

  #startFrom({ state, since, acceptedAt }: InboxStart): void {
    const { queue, approvals, run, items } = state;
    this.inputs.clear();
    this.questions.clear();
    this.#calls = [];
    this.#state = { ...state, items: List.of() }; // no item's content is needed here
    this.#since = since;
    for (const { inputId, input } of queue)
      this.inputs.set(inputId, { n: acceptedAt(inputId) ?? 0, kind: input.kind });
    for (const { asked, answer } of approvals) this.questions.set(asked.approvalId, answer);
    const turn = run?.turn;
    const reply = turn && items.findLastIndex(({ id }) => id === turn.reply);
    if (turn === undefined || reply === undefined || reply < 0) return;
    for (let at = reply; at < items.length; at += 1)
      this.#indexItem({ type: "item_committed", item: items.at(at) as Item, turnId: turn.turnId });
  }

  #begin(facts: readonly Fact[]): void {
    this.questions.clear();
    this.#calls = [];
    this.#state = this.#empty();
    for (const fact of withoutUndone(facts)) {
      this.#state = reduceFact(this.#state, withoutContent(fact));
      this.#index(fact);
    }
    // Ids of inputs stay in use, also those of stops that were undone.
    for (const fact of facts) if (fact.type === "input_accepted") this.#indexInput(fact);
    this.#state = { ...this.#state, head: facts.length };
  }

  #take(fact: Fact): void {
    const applied = apply(this.#state, withoutContent(fact));
    if (applied.verdict !== "applied") {
      throw new MillraceError("broken_port", `the store gave fact ${fact.n} out of its order`);
    }
    this.#state = applied.state;
    this.#index(fact);
  }

  #index(fact: Fact): void {
    if (fact.type === "input_accepted") this.#indexInput(fact);
    if (fact.type === "run_started" || isReset(fact)) this.#since = fact.n;
    if (fact.type === "approval_requested") this.questions.set(fact.approvalId, undefined);
    if (fact.type === "approval_resolved" && this.questions.get(fact.approvalId) === undefined) {
      this.questions.set(fact.approvalId, fact);
    }
    if (fact.type === "queue_updated") {
      const input = this.inputs.get(fact.inputId);
      if (input !== undefined) input.takenBack ??= fact.n;
    }
    if (fact.type === "item_committed" || fact.type === "item_replaced") this.#indexItem(fact);
  }

  #indexInput({ inputId, input, n }: FactOf<"input_accepted">): void {
    if (this.inputs.has(inputId)) return;
    const { kind } = input;
    this.inputs.set(inputId, { n, kind, runId: kind === "abort" ? input.runId : undefined });
  }

  #indexItem({
    type,
    item,
    turnId,
  }: Pick<FactOf<"item_committed" | "item_replaced">, "type" | "item" | "turnId">): void {
    if (item.author === "tool") {
      const answered = this.#calls.findLast((call) => call.answer === item.id);
      if (answered !== undefined) answered.settled = true;
    }
    if (turnId === undefined || item.id !== laneItemIdOf(turnId, 0)) return;
    if (type === "item_replaced") {
      this.#calls = this.#calls.filter((call) => call.holder !== item.id);
    }
    const calls = item.parts.filter((part) => part.kind === "tool_call");
    const answers = item.parts.filter((part) => part.kind === "tool_result");
    for (const [at, { callId, tool }] of calls.entries()) {
      // Answered within the reply, or a second call under one id, which the first one's answer answers.
      const settled =
        answers.some((part) => part.callId === callId) ||
        calls.findIndex((call) => call.callId === callId) !== at;
      const answer = laneItemIdOf(turnId, at + 1);
      this.#calls.push({ callId, tool, holder: item.id, turnId, answer, settled });
    }
  }

  #empty(): SessionState {
    const { uid } = this.#options;
    return emptyState(uid, sessionId(uid)); // the session's name decides nothing here
  }
}

/** A fact without the content of its items and inputs. */
function withoutContent(fact: Fact): Fact {
  if (fact.type === "item_committed" || fact.type === "item_replaced") {
    return { ...fact, item: { ...fact.item, parts: [] } };
  }
  if (fact.type === "input_accepted" && "parts" in fact.input) {
    return { ...fact, input: { kind: fact.input.kind, parts: [] } };
  }
  return fact;
}
