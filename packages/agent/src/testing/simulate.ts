import {
  callId,
  noUsage,
  packEpoch,
  parseArguments,
  partId,
  sessionId,
  sessionUid,
} from "@millrace/core";
import type {
  Cause,
  Epoch,
  Fact,
  FactBody,
  Item,
  ItemId,
  Part,
  PeopleFact,
  StopReason,
  Usage,
} from "@millrace/core";
import { SessionLedger } from "@millrace/core/reference";
import type { Action } from "../loop/action.ts";
import { advance } from "../loop/advance.ts";
import { approvalIdOf, inputItemIdOf, laneItemIdOf } from "../loop/ids.ts";
import { emptyStanding } from "../loop/state.ts";
import type {
  CallStanding,
  LoopSettings,
  LoopState,
  OutputVerdict,
  RunStanding,
  Standing,
  TurnStanding,
  Verdict,
} from "../loop/state.ts";
import { fixed, freeze } from "./fixed.ts";
import { aborted, result, text } from "./simulated-parts.ts";

/** What a reply comes to. */
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
 * A session that is driven without any agent: actions are performed by storing the facts that they
 * stand for, under the store's own rules. What takes long is begun, and ends when it is told to.
 */
export class Simulation {
  readonly ledger: SessionLedger;
  settings: LoopSettings;
  now = 1_000;
  standing: Standing = emptyStanding;
  output: OutputVerdict = { state: "valid" };
  allowance: string | undefined;
  readonly verdicts = new Map<ItemId, Verdict>();
  /** Calls whose tool runs now. */
  readonly calls = new Map<ItemId, Work>();
  /** What each execution began with, in order. */
  readonly executed: CallStanding[] = [];
  reply: (Work & { readonly itemId: ItemId }) | undefined;
  compaction: (Work & { readonly itemId: ItemId }) | undefined;
  assessing: readonly CallStanding[] | undefined;
  #generation = 0;

  constructor(settings: LoopSettings) {
    this.settings = settings;
    const uid = sessionUid("u");
    this.ledger = new SessionLedger({ uid, sessionId: sessionId("s"), now: () => this.now });
    this.claim();
  }

  state(): LoopState {
    const works = [this.reply, this.compaction, ...this.calls.values()].filter(
      (work) => work !== undefined,
    );
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
        output: this.output,
        allowance: this.allowance,
      },
    });
  }

  /** A new driver: what the old one had under way is gone, and so is what it had found out. */
  claim(): void {
    this.forget();
    this.calls.clear();
    this.reply = undefined;
    this.compaction = undefined;
    this.#generation = 0;
    const claimed = this.ledger.claim({ from: this.standing.incarnation });
    if (claimed.outcome !== "claimed") throw new Error("the claim was refused");
    this.#take(claimed.facts);
  }

  /** What a person says. False if the store refuses it. */
  say(key: string, body: PeopleFact): boolean {
    const answer = this.ledger.accept(key, body);
    if (answer.outcome !== "accepted") return false;
    this.#take(answer.facts);
    return true;
  }

  perform(action: Action): void {
    switch (action.do) {
      case "wait":
        return;
      case "begin_turn":
        return this.#beginTurn(action);
      case "reply":
        this.reply = this.#open(0, action.itemId);
        return;
      case "respond":
        this.reply = this.#open(0, laneItemIdOf(action.turnId, 0));
        return;
      case "assess":
        this.assessing = action.calls;
        return;
      case "ask":
        return this.#ask(action);
      case "execute":
        for (const call of action.calls) this.#execute(call);
        return;
      case "settle":
        return this.#settle(action);
      case "finish_turn": {
        const { runId } = this.run();
        const { turnId, stop } = action;
        return this.append([{ type: "turn_finished", runId, turnId, stop, closes: this.#last() }]);
      }
      case "compact":
        if (action.starts) this.append([{ type: "compaction_started", runId: action.runId }]);
        this.compaction = this.#open(0, action.itemId);
        return;
      case "check_output":
        throw new Error("whoever simulates says what the answer is worth");
      case "correct": {
        const { runId } = this.run();
        const { itemId, turnId, message } = action;
        const item: Item = { id: itemId, author: "user", parts: [text(message)], stop: "end" };
        this.forget();
        return this.append([
          { type: "item_committed", item, runId, turnId },
          { type: "turn_started", runId, turnId },
        ]);
      }
      case "interrupt":
        for (const work of [this.reply, this.compaction, ...this.calls.values()])
          if (work !== undefined) work.stopped = true;
        return;
      case "abandon_reply": {
        const { runId } = this.run();
        const { turnId, itemId } = action;
        const item: Item = {
          id: itemId,
          author: "model",
          parts: [],
          stop: "aborted",
          cause: aborted,
        };
        return this.append([{ type: "item_committed", item, runId, turnId }]);
      }
      case "finish_run": {
        const { runId, outcome } = action;
        return this.append([{ type: "run_finished", runId, closes: this.#last(), ...outcome }]);
      }
      default:
        action satisfies never;
    }
  }

  /** The reply under way ends so. */
  endReply({ stop, cause, calls = [], usage = noUsage }: SimulatedReply): void {
    const { reply } = this;
    const { runId } = this.run();
    const { turnId } = this.turn();
    if (reply === undefined) throw new Error("no reply is under way");
    this.reply = undefined;
    if (this.settings.custom) {
      return this.append([{ type: "turn_finished", runId, turnId, stop, closes: this.#last() }]);
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

  /** An attempt at the reply fails, and another one begins. */
  retry(usage: Usage): void {
    const { reply } = this;
    if (reply === undefined) throw new Error("no reply is under way");
    const { runId } = this.run();
    const { turnId } = this.turn();
    this.append([{ type: "usage_reported", runId, turnId, epoch: reply.epoch, usage }]);
    this.reply = this.#open(0, reply.itemId);
  }

  /** The tool of a call is done. */
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

  /** The assessment under way finds this, call by call. */
  endAssessing(judge: (call: CallStanding) => Verdict): void {
    for (const call of this.assessing ?? []) this.verdicts.set(call.itemId, freeze(judge(call)));
    this.assessing = undefined;
  }

  /** The compaction under way ends, with a summary of all items but the last, or without. */
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
    if (run === undefined) throw new Error("no run is on");
    return run;
  }

  turn(): TurnStanding {
    const { turn } = this.run();
    if (turn === undefined) throw new Error("no turn is on");
    return turn;
  }

  forget(): void {
    this.verdicts.clear();
    this.assessing = undefined;
    this.output = { state: "valid" };
  }

  append(bodies: readonly FactBody[]): void {
    const { incarnation } = this.standing;
    const head = this.ledger.facts.length;
    const answer = this.ledger.append({ incarnation, head, bodies });
    if (answer.outcome !== "appended") throw new Error(`the store answered ${answer.outcome}`);
    this.#take(answer.facts);
  }

  #beginTurn({ runId, turnId, startsRun, takes }: Extract<Action, { do: "begin_turn" }>): void {
    const items = takes.map((inputId): FactBody => {
      const input = this.ledger.state.queue.find((queued) => queued.inputId === inputId)?.input;
      if (input === undefined || input.kind === "answer") throw new Error("not in the queue");
      const { parts } = input;
      const item: Item = { id: inputItemIdOf(inputId), author: "user", parts, stop: "end" };
      return { type: "item_committed", item, runId, turnId, inputId };
    });
    this.forget();
    const started: FactBody[] = startsRun ? [{ type: "run_started", runId }] : [];
    this.append([...started, ...items, { type: "turn_started", runId, turnId }]);
  }

  #ask({ questions }: Extract<Action, { do: "ask" }>): void {
    const { runId } = this.run();
    const { turnId } = this.turn();
    this.append(
      questions.map(({ call, hash }) => {
        const { lane, asked, tool } = call;
        const approvalId = approvalIdOf(turnId, lane, asked + 1);
        const about = { approvalId, callId: call.callId, tool, input: {}, hash };
        return { type: "approval_requested", runId, turnId, ...about };
      }),
    );
  }

  #execute(call: CallStanding): void {
    const { runId } = this.run();
    const { turnId } = this.turn();
    const { tool, itemId, lane } = call;
    this.executed.push(call);
    const epoch = this.#next();
    const opened = this.ledger.open({
      lane,
      epoch,
      itemId,
      intent: {
        type: "tool_execution_started",
        runId,
        turnId,
        callId: call.callId,
        tool,
        input: {},
        itemId,
        lane,
        epoch,
      },
    });
    if (opened.outcome !== "opened") throw new Error(`the store answered ${opened.outcome}`);
    this.#take(opened.facts);
    this.calls.set(itemId, { epoch, stopped: false });
  }

  #settle({ answers }: Extract<Action, { do: "settle" }>): void {
    const { runId } = this.run();
    const { turnId } = this.turn();
    this.append(
      answers.flatMap(({ call, status, message }): FactBody[] => {
        const part: Part = { ...result(call, status), text: message, synthetic: true };
        const item: Item = { id: call.itemId, author: "tool", parts: [part], stop: "end" };
        const place = { runId, turnId, callId: call.callId, tool: call.tool };
        const settled: FactBody[] =
          call.started === undefined ? [] : [{ type: "tool_execution_finished", ...place, status }];
        return [{ type: "item_committed", item, runId, turnId }, ...settled];
      }),
    );
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
    for (const fact of facts) this.standing = freeze(advance(this.standing, freeze(fact)));
  }

  #next(): Epoch {
    this.#generation += 1;
    return this.#epoch(this.#generation);
  }

  #last(): Epoch {
    return this.#epoch(this.#generation + 1) - 1;
  }

  #epoch(generation: number): Epoch {
    return packEpoch({ incarnation: this.standing.incarnation, generation, attempt: 0 });
  }
}

type Commit = Parameters<SessionLedger["commit"]>[0];
type CommitArguments = [fact: Commit["fact"], settlement: NonNullable<Commit["settlement"]>];
