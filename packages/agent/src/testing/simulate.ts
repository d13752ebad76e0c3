import { packEpoch } from "@millrace/core/ports";
import type { Epoch, PeopleFact } from "@millrace/core/ports";
import {
  callId,
  noUsage,
  parseArguments,
  partId,
  sessionId,
  sessionUid,
} from "@millrace/core/writing";
import type {
  Cause,
  Fact,
  Item,
  ItemId,
  Part,
  ResultStatus,
  StopReason,
  Usage,
} from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { SessionLedger } from "@millrace/core/memory";
import type { LoopSettings } from "../definition/loop-settings.ts";
import type { Action, RecordAction, WorkAction } from "../loop/action.ts";
import { advance } from "../loop/advance.ts";
import { laneItemIdOf } from "../loop/ids.ts";
import type { FailedFacts, FactContext } from "../loop/fact-context.ts";
import { callsToRemember } from "../loop/limits.ts";
import { outline, spentOf } from "../loop/outline.ts";
import { perform } from "../loop/perform.ts";
import { emptyStanding, nothingSpent } from "../loop/state.ts";
import type {
  CallStanding,
  Doing,
  FailedAttempt,
  LoopState,
  RunStanding,
  Standing,
  TurnStanding,
  CallVerdict,
} from "../loop/state.ts";
import { fixed, freeze } from "./fixed.ts";
import { aborted, result, text } from "./simulated-parts.ts";

/** The end of a simulated reply. */
export interface SimulatedReply {
  readonly stop: StopReason;
  readonly cause?: Cause | undefined;
  readonly calls?: readonly {
    readonly callId: string;
    readonly tool: string;
    readonly raw?: string;
  }[];
  readonly usage?: Usage | undefined;
}

interface Work {
  readonly epoch: Epoch;
  stopped: boolean;
}

/**
 * A host of the loop without an agent. Facts are stored by the rules of real stores, actions are
 * performed by the loop's own `perform`, and work ends when and how the test decides.
 */
export class Simulation {
  readonly ledger: SessionLedger;
  settings: LoopSettings;
  now = 1_000;
  standing: Standing = emptyStanding;
  output: Doing["output"] = "valid";
  allowance: string | undefined;
  readonly verdicts = new Map<ItemId, CallVerdict>();
  readonly answers = new Map<ItemId, ResultStatus>();
  /** Calls whose tool runs now. */
  readonly calls = new Map<ItemId, Work>();
  /** The calls of all executions, in order. */
  readonly executed: CallStanding[] = [];
  reply: (Work & { readonly itemId: ItemId }) | undefined;
  compaction: (Work & { readonly itemId: ItemId }) | undefined;
  assessing: readonly CallStanding[] | undefined;
  failed: { readonly decision: FailedAttempt; readonly facts: FailedFacts } | undefined;
  /** Requests to the model, one for each attempt. */
  requests = 0;
  #generation = 0;

  constructor(settings: LoopSettings) {
    this.settings = settings;
    const uid = sessionUid("u");
    this.ledger = new SessionLedger({ uid, sessionId: sessionId("s"), now: () => this.now });
    this.claim();
  }

  state(): LoopState {
    const works = this.#works();
    return fixed({
      standing: this.standing,
      settings: this.settings,
      now: this.now,
      doing: {
        reply: this.reply !== undefined,
        compaction: this.compaction !== undefined,
        assessing: this.assessing !== undefined,
        calls: new Set(this.calls.keys()),
        interrupted: works.length > 0 && works.every((work) => work.stopped),
        verdicts: this.verdicts,
        answers: this.answers,
        output: this.output,
        failed: this.failed?.decision,
        allowance: this.allowance,
      },
    });
  }

  /** Replaces the driver by a new one. Work and results of the old one that are not stored are lost. */
  claim(): void {
    this.restart();
    this.#generation = 0;
    const { incarnation: from, run } = this.standing;
    const resumed = run === undefined ? {} : { resumes: run.runId };
    const claimed = this.ledger.claim({ from, ...resumed });
    if (claimed.outcome !== "claimed") throw new Error("the claim was refused");
    this.#take(claimed.facts);
  }

  /** Replaces the driver by a new one after it has shut down in the middle of a run. */
  handOver(): void {
    const { incarnation, run } = this.standing;
    if (run === undefined) return;
    const { runId } = run;
    this.append([{ type: "session_released", incarnation, runId, reason: "shutdown" }]);
    this.claim();
  }

  /** Restarts the process, and reports what it was doing as lost, as a step of an engine does. */
  loseStep(): void {
    const { run } = this.standing;
    const wasBusy = this.#works().length > 0;
    this.restart();
    if (run === undefined || !wasBusy) return;
    const { runId, turn } = run;
    const ids = turn === undefined ? { runId } : { runId, turnId: turn.turnId };
    const epoch = this.#next();
    this.append([{ type: "usage_reported", ...ids, epoch, usage: noUsage, lost: true }]);
  }

  /** Restarts the process under the same incarnation, as workers of engines do. */
  restart(): void {
    this.forget();
    this.calls.clear();
    this.reply = undefined;
    this.compaction = undefined;
    this.failed = undefined;
  }

  /** Stores a fact of a person. False if the store refuses it. */
  accept(key: string, body: PeopleFact): boolean {
    const answer = this.ledger.accept(key, body);
    if (answer.outcome !== "accepted") return false;
    this.#take(answer.facts);
    return true;
  }

  perform(action: Action): void {
    perform<void>(
      {
        record: (recorded, bodies) => this.#record(recorded, bodies),
        begin: (begun) => this.#begin(begun),
        skip: () => {
          if (action.do !== "wait") throw new Error(`${action.do} is about what is over`);
        },
      },
      action,
      () => this.factContext(),
    );
  }

  factContext(): FactContext {
    return {
      standing: this.standing,
      state: this.ledger.state,
      closes: this.#epoch(this.#generation + 1) - 1,
      refusals: () => "no",
      parsed: () => undefined,
      answers: (itemId) => {
        const status = this.answers.get(itemId);
        return status === undefined ? undefined : { status, text: "answered" };
      },
      outputProblem: this.output === "invalid" ? "no number" : undefined,
      failed: this.failed?.facts,
    };
  }

  #record(action: RecordAction, bodies: readonly FactBody[]): void {
    if (action.do === "begin_turn" || action.do === "correct") this.forget();
    this.append(bodies);
    if (action.do === "schedule_retry") this.#schedule(action.delayMs);
    if (endsAttempts.includes(action.do)) this.failed = undefined;
  }

  #schedule(delayMs: number): void {
    if (this.failed === undefined) throw new Error("no attempt has failed");
    const retryAt = this.now + delayMs;
    const decision = { ...this.failed.decision, used: nothingSpent, retryAt };
    this.failed = { decision, facts: { ...this.failed.facts, reported: true } };
  }

  #begin(action: WorkAction): void {
    switch (action.do) {
      case "reply":
        this.failed = undefined;
        this.requests += 1;
        this.reply = this.#open(0, action.itemId);
        return;
      case "respond":
        this.reply = this.#open(0, laneItemIdOf(action.turnId, 0));
        return;
      case "assess":
        this.assessing = action.calls;
        return;
      case "execute":
        for (const call of action.calls) this.#execute(call);
        return;
      case "check_answers":
        for (const { itemId } of action.calls) this.answers.set(itemId, "ok");
        return;
      case "compact":
        this.failed = undefined;
        this.compaction = this.#open(0, action.itemId);
        return;
      case "check_output":
        throw new Error("the test must set the output itself");
      case "interrupt":
        for (const work of this.#works()) work.stopped = true;
        return;
      default:
        action satisfies never;
    }
  }

  /** Ends the current reply. */
  endReply({ stop, cause, calls = [], usage = noUsage }: SimulatedReply): void {
    const { reply } = this;
    const { runId } = this.run();
    const { turnId } = this.turn();
    if (reply === undefined) throw new Error("no reply is under way");
    this.reply = undefined;
    if (this.settings.custom) {
      const { closes } = this.factContext();
      return this.append([{ type: "turn_finished", runId, turnId, stop, closes }]);
    }
    const parts: Part[] = calls.map((call, index) => ({
      kind: "tool_call",
      id: partId(`p${index}`),
      callId: callId(call.callId),
      tool: call.tool,
      raw: call.raw ?? "{}",
      ...parseArguments(call.raw ?? "{}"),
    }));
    const cut = stop === "aborted" || stop === "failed" || stop === "truncated";
    const ending = cut ? ({ stop, cause: cause ?? aborted } as const) : ({ stop } as const);
    const item: Item = { id: reply.itemId, author: "model", parts, usage, ...ending };
    const { epoch } = reply;
    this.#commit({ type: "item_committed", item, lane: 0, epoch, runId, turnId }, [
      { type: "usage_reported", runId, turnId, epoch, usage },
    ]);
  }

  /** Fails the current attempt at the reply or the summary. The loop decides about a retry. */
  failAttempt(cause: Cause = overloaded, usage: Usage = noUsage, jitter = 0.5): void {
    const work = this.reply ?? this.compaction;
    if (work === undefined) throw new Error("no attempt is under way");
    this.reply = undefined;
    this.compaction = undefined;
    const { retryable, evidence } = cause;
    const hint = {
      ...(retryable === undefined ? {} : { retryable }),
      ...(evidence === undefined ? {} : { evidence }),
    };
    const used = spentOf(usage);
    this.failed = {
      decision: { cause: hint, jitter, used, retryAt: undefined },
      facts: { epoch: work.epoch, usage, cause, reported: false },
    };
  }

  /** Ends the execution of a call. */
  endCall(itemId: ItemId, status: "ok" | "failed" | "aborted"): void {
    const work = this.calls.get(itemId);
    const call = this.turn().reply?.calls.find((one) => one.itemId === itemId);
    if (work === undefined || call === undefined) throw new Error("no such call is under way");
    this.calls.delete(itemId);
    const { runId } = this.run();
    const { turnId } = this.turn();
    const { tool, lane } = call;
    const place = { runId, turnId, callId: call.callId, tool };
    const item: Item = { id: itemId, author: "tool", parts: [result(call, status)], stop: "end" };
    const { epoch } = work;
    this.#commit({ type: "item_committed", item, lane, epoch, runId, turnId }, [
      { type: "tool_execution_finished", ...place, status },
    ]);
  }

  /** Ends the current assessment with a verdict for each call. */
  endAssessing(judge: (call: CallStanding) => CallVerdict): void {
    for (const call of this.assessing ?? []) this.verdicts.set(call.itemId, freeze(judge(call)));
    this.assessing = undefined;
  }

  /** Ends the current compaction, with a summary of all items but the last, or without one. */
  endCompaction(works: boolean): void {
    const { compaction } = this;
    if (compaction === undefined) throw new Error("no compaction is under way");
    this.compaction = undefined;
    const { runId } = this.run();
    const items = this.ledger.state.items.toArray();
    const first = items[0]?.id;
    const last = items.at(-2)?.id;
    if (!works || first === undefined || last === undefined) {
      return this.append([{ type: "compaction_finished", runId }]);
    }
    const { itemId, epoch } = compaction;
    const item: Item = { id: itemId, author: "agent", parts: [text("so far")], stop: "end" };
    this.#commit({ type: "item_committed", item, lane: 0, epoch, runId }, [
      { type: "usage_reported", runId, epoch, usage: noUsage },
    ]);
    this.append([{ type: "compaction_finished", runId, summary: { itemId, first, last } }]);
  }

  run(): RunStanding {
    const { run } = this.standing;
    if (run === undefined) throw new Error("there is no run");
    return run;
  }

  turn(): TurnStanding {
    const { turn } = this.run();
    if (turn === undefined) throw new Error("there is no turn");
    return turn;
  }

  forget(): void {
    this.verdicts.clear();
    this.answers.clear();
    this.assessing = undefined;
    this.output = "valid";
  }

  append(bodies: readonly FactBody[]): void {
    const { incarnation } = this.standing;
    const head = this.ledger.facts.length;
    const answer = this.ledger.append({ incarnation, head, bodies });
    if (answer.outcome !== "appended") throw new Error(`the store answered ${answer.outcome}`);
    this.#take(answer.facts);
  }

  #execute(call: CallStanding): void {
    const { runId } = this.run();
    const { turnId } = this.turn();
    const { tool, itemId, lane } = call;
    this.executed.push(call);
    const epoch = this.#next();
    const place = { runId, turnId, callId: call.callId, tool, itemId, lane, epoch };
    const intent = { type: "tool_execution_started", ...place, input: {} } as const;
    const opened = this.ledger.open({ lane, epoch, itemId, intent });
    if (opened.outcome !== "opened") throw new Error(`the store answered ${opened.outcome}`);
    this.#take(opened.facts);
    this.calls.set(itemId, { epoch, stopped: false });
  }

  #works(): readonly Work[] {
    const all = [this.reply, this.compaction, ...this.calls.values()];
    return all.filter((work) => work !== undefined);
  }

  #open(lane: number, itemId: ItemId): Work & { readonly itemId: ItemId } {
    const epoch = this.#next();
    const opened = this.ledger.open({ lane, epoch, itemId });
    if (opened.outcome !== "opened") throw new Error(`the store answered ${opened.outcome}`);
    return { epoch, itemId, stopped: false };
  }

  #commit(...[fact, settlement]: CommitArguments): void {
    const committed = this.ledger.commit({ fact, settlement });
    if (committed.outcome !== "committed") throw new Error(`answered ${committed.outcome}`);
    this.#take(committed.facts);
  }

  #take(facts: readonly Fact[]): void {
    const remember = callsToRemember(this.settings);
    for (const fact of facts)
      this.standing = freeze(advance(this.standing, freeze(outline(fact)), remember));
  }

  #next(): Epoch {
    this.#generation += 1;
    return this.#epoch(this.#generation);
  }

  #epoch(generation: number): Epoch {
    return packEpoch({ incarnation: this.standing.incarnation, generation, attempt: 0 });
  }
}

/** Actions after which the failed attempt is not retried. */
const endsAttempts: readonly Action["do"][] = [
  "end_reply",
  "abandon_reply",
  "end_compaction",
  "finish_run",
  "give_up",
];

/** A retryable failure. */
export const overloaded: Cause = { code: "overloaded", message: "too busy", retryable: true };

type Commit = Parameters<SessionLedger["commit"]>[0];
type CommitArguments = [fact: Commit["fact"], settlement: NonNullable<Commit["settlement"]>];
