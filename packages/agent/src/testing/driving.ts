import { inputId, partId } from "@millrace/core/writing";
import type { JsonObject, Usage } from "@millrace/core";
import type { Input } from "@millrace/core/writing";
import type { Action } from "../loop/action.ts";
import { decide } from "../loop/decide.ts";
import { defaultRetryPolicy } from "@millrace/core/model";
import type { LoopSettings, ToolSettings } from "../definition/loop-settings.ts";
import type { CallStanding, CallVerdict } from "../loop/state.ts";
import { overloaded, Simulation } from "./simulate.ts";
import type { SimulatedReply } from "./simulate.ts";

/** An effectful tool that may run in parallel and has no limit of repeats of its own. */
export const plainTool: ToolSettings = {
  effect: "effectful",
  alone: false,
  repeats: undefined,
  client: false,
};

const plainSettings: LoopSettings = {
  custom: false,
  limits: {},
  tools: { pay: plainTool, look: { ...plainTool, effect: "pure" } },
  parallel: 8,
  compactAbove: undefined,
  approvalSeconds: undefined,
  retry: defaultRetryPolicy,
};

/** A session that is driven step by step. The test decides everything that happens. */
export class Driving extends Simulation {
  #inputs = 0;

  constructor(settings: Partial<LoopSettings> = {}) {
    super({ ...plainSettings, ...settings });
  }

  /** The next decision, without performing it. */
  next(): Action {
    return decide(this.state());
  }

  /** Performs decisions until the next one is a wait. Returns the performed actions in order. */
  settle(): readonly Action["do"][] {
    const done: Action["do"][] = [];
    for (let action = this.next(); action.do !== "wait"; action = this.next()) {
      done.push(action.do);
      this.perform(action);
      if (done.length > 100) throw new Error(`does not settle: ${done.slice(-5).join()}`);
    }
    return done;
  }

  send(kind: "prompt" | "steer" | "follow_up" = "prompt", limits?: JsonObject): string {
    const parts = [{ kind: "text", id: partId("p1"), text: "go" }] as const;
    return this.input({ kind, parts, ...(limits === undefined ? {} : { options: { limits } }) });
  }

  abort(): string {
    return this.input({ kind: "abort" });
  }

  input(input: Input): string {
    this.#inputs += 1;
    const id = inputId(`input_${this.#inputs}`);
    if (!this.accept(id, { type: "input_accepted", inputId: id, input }))
      throw new Error("refused");
    return id;
  }

  /** Fails the current attempt, and starts the next one at once. */
  retry(usage: Usage): void {
    this.failAttempt(overloaded, usage, 0);
    this.settle();
  }

  /** Starts a run if there is none, ends its reply, and settles. */
  answerWith(reply: SimulatedReply): readonly Action["do"][] {
    if (this.standing.run === undefined) this.send();
    this.settle();
    this.endReply(reply);
    return this.settle();
  }

  /** Starts a run whose reply calls these tools, and ends their assessment with these verdicts. */
  runUpToCalls(tools: readonly string[], judge: (call: CallStanding) => CallVerdict = allow): void {
    const calls = tools.map((tool, at) => ({ callId: `c${at + 1}`, tool, raw: `{"n":${at}}` }));
    this.answerWith({ stop: "tools", calls });
    this.endAssessing(judge);
  }

  call(number: number): CallStanding {
    const call = this.turn().reply?.calls[number - 1];
    if (call === undefined) throw new Error(`there is no call ${number}`);
    return call;
  }

  decideOn(number: number, decision: "allow" | "deny", reason?: string): boolean {
    const { approval, callId } = this.call(number);
    if (approval === undefined) throw new Error("nothing was asked");
    const { approvalId } = approval;
    const body = { type: "approval_resolved", approvalId, callId, decision } as const;
    const key = `answer_${this.ledger.facts.length}`;
    return this.accept(key, reason === undefined ? body : { ...body, reason });
  }
}

/** How the latest run ended, or that it still runs. */
export function outcomeOf(session: Driving): string {
  const last = session.ledger.facts.findLast((fact) => fact.type === "run_finished");
  if (session.standing.run !== undefined || last?.type !== "run_finished") return "goes on";
  return last.outcome === "limited" ? `limited by ${last.limit}` : last.outcome;
}

export function allow({ itemId }: CallStanding): CallVerdict {
  return { decision: "allow", hash: itemId };
}

export function ask({ itemId }: CallStanding): CallVerdict {
  return { decision: "ask", hash: itemId };
}
