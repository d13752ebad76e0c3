import { callId, inputId, noUsage, partId, runId } from "@millrace/core/writing";
import type { ApprovalId, Cause, JsonObject, Usage } from "@millrace/core";
import type { FactOf, Input } from "@millrace/core/writing";
import { defaultRetryPolicy } from "@millrace/core/model";
import type { LoopSettings } from "../definition/loop-settings.ts";
import { answerInputIdOf } from "../loop/ids.ts";
import type { CallStanding, CallVerdict } from "../loop/state.ts";
import type { Random } from "../../../../tests/kit/random.ts";
import { Simulation } from "./simulate.ts";
import type { SimulatedReply } from "./simulate.ts";

/** Drives a simulated session with random events: inputs, decisions, ends of work, time, crashes. */
export class SimulatedWorld {
  readonly session: Simulation;
  readonly #random: Random;
  #inputs = 0;
  #decisions = 0;

  constructor(random: Random) {
    this.#random = random;
    this.session = new Simulation(drawSettings(random));
  }

  /** Performs one random event of those that are possible. */
  step(): void {
    const random = this.#random;
    const events = [...this.#endings(), ...this.#endings(), ...this.#outside()];
    random.pick(events)();
  }

  /** Ends one piece of work, or answers one request. False if there is none. */
  endWork(): boolean {
    const endings = this.#endings();
    if (endings.length === 0) return false;
    this.#random.pick(endings)();
    return true;
  }

  setOutput(): void {
    this.session.output = this.#random.chance(0.5) ? "valid" : "invalid";
  }

  /** Inputs of people, time, crashes. */
  #outside(): readonly (() => void)[] {
    const { session } = this;
    return [
      () => this.#send("prompt"),
      () => this.#send("steer"),
      () => this.#send("follow_up"),
      () => this.#abort(),
      () => this.#takeBack(),
      () => session.claim(),
      () => session.handOver(),
      () => session.restart(),
      () => session.loseStep(),
      () => this.#advanceTime(),
      // The budget of a parent's run.
      () => (session.allowance = this.#random.chance(0.2) ? "tokens" : undefined),
    ];
  }

  #endings(): readonly (() => void)[] {
    const { session } = this;
    const random = this.#random;
    const events: (() => void)[] = [];
    if (session.reply !== undefined) {
      events.push(() => session.endReply(this.#drawReply()));
      if (!session.settings.custom && random.chance(0.2))
        events.push(() =>
          session.failAttempt(random.pick(causes), drawUsage(random), random.next()),
        );
    }
    if (session.compaction !== undefined) {
      events.push(() => session.endCompaction(random.chance(0.8)));
      if (random.chance(0.2)) events.push(() => session.failAttempt(random.pick(causes)));
    }
    for (const call of this.#awaited()) events.push(() => this.#answerCall(call));
    if (session.assessing !== undefined)
      events.push(() => session.endAssessing((call) => this.#judge(call)));
    for (const itemId of session.calls.keys()) {
      const status = random.pick(["ok", "failed", "aborted"] as const);
      events.push(() => session.endCall(itemId, status));
    }
    for (const { asked } of session.ledger.state.approvals) {
      events.push(() => this.#answer(asked.approvalId, asked.callId));
    }
    const timed = session.settings.approvalSeconds !== undefined || session.failed !== undefined;
    if (timed) events.push(() => this.#advanceTime());
    return events;
  }

  #send(kind: "prompt" | "steer" | "follow_up"): void {
    const parts = [{ kind: "text", id: partId("p1"), text: "go" }] as const;
    const limits = this.#random.chance(0.5)
      ? { options: { limits: drawLimits(this.#random) } }
      : {};
    this.#accept({ kind, parts, ...limits });
  }

  #abort(): void {
    const { run } = this.session.standing;
    const other = { runId: runId("run_other") };
    const named = run === undefined ? other : this.#random.pick([{}, { runId: run.runId }, other]);
    this.#accept({ kind: "abort", ...named });
  }

  #accept(input: Input): void {
    this.#inputs += 1;
    const id = inputId(`input_${this.#inputs}`);
    this.session.accept(id, { type: "input_accepted", inputId: id, input });
  }

  #takeBack(): void {
    const { queue } = this.session.standing;
    if (queue.length === 0) return;
    const { inputId: taken } = this.#random.pick(queue);
    const body = { type: "queue_updated", inputId: taken, change: "taken_back" } as const;
    this.session.accept(`take_back_${taken}`, body);
  }

  #answer(approvalId: ApprovalId, asked: FactOf<"approval_requested">["callId"]): void {
    const decision = this.#random.chance(0.6) ? "allow" : "deny";
    this.#decisions += 1;
    const body = { type: "approval_resolved", approvalId, callId: asked, decision } as const;
    this.session.accept(`answer_${this.#decisions}`, body);
  }

  /** Calls that wait for their client. */
  #awaited(): readonly CallStanding[] {
    const { run } = this.session.standing;
    const calls = run?.turn?.reply?.calls ?? [];
    return calls.filter(
      (call) => call.tool === "confirm" && call.started !== undefined && !call.settled,
    );
  }

  #answerCall({ callId: asked, itemId }: CallStanding): void {
    const id = answerInputIdOf(itemId);
    const input = { kind: "answer", callId: asked, output: 1 } as const;
    this.session.accept(id, { type: "input_accepted", inputId: id, input });
  }

  /** Advances the clock by a short or a long time. */
  #advanceTime(): void {
    const { session } = this;
    session.now += this.#random.pick([1, 500, 10_000, 100_000, 4_000_000]);
  }

  #drawReply(): SimulatedReply {
    const random = this.#random;
    const { session } = this;
    const usage = drawUsage(random);
    if (session.reply?.stopped === true && random.chance(0.8)) return { stop: "aborted", usage };
    const stop = random.pick(stops);
    const cause = random.pick(causes);
    const count = stop === "end" ? 0 : random.below(5);
    const calls = Array.from({ length: count }, (_, at) => ({
      callId: callId(random.chance(0.9) ? `c${at}` : "c0"),
      tool: random.pick(toolNames),
      raw: random.pick(["{}", '{"a":1}', '{"a":2}']),
    }));
    return { stop, cause, calls, usage };
  }

  #judge({ itemId }: CallStanding): CallVerdict {
    const random = this.#random;
    const draw = random.next();
    // Usually the same as before a crash; sometimes the tool has changed since.
    const hash = `${itemId}${random.chance(0.8) ? "" : "'"}`;
    if (draw < 0.15) return { decision: "refuse", status: "failed" };
    if (draw < 0.25) return { decision: "refuse", status: "denied" };
    return { decision: draw < 0.6 ? "ask" : "allow", hash };
  }
}

const toolNames = ["pay", "look", "put", "alone", "poll", "confirm", "gone"] as const;
const stops: readonly SimulatedReply["stop"][] = [
  "tools",
  "tools",
  "tools",
  "tools",
  "tools",
  "end",
  "length",
  "filtered",
  "paused",
  "aborted",
  "truncated",
  "failed",
];
const causes: readonly Cause[] = [
  { code: "overloaded", message: "too busy", retryable: true },
  { code: "busy", message: "later", retryable: true, evidence: { retryAfterMs: 400 } },
  { code: "context_overflow", message: "too long" },
  { code: "request_too_large", message: "too large" },
];

function drawSettings(random: Random): LoopSettings {
  const plain = { alone: false, repeats: undefined, client: false };
  return {
    custom: random.chance(0.1),
    // Without a limit a random run might never end.
    limits: { turns: 1 + random.below(6), seconds: 3_600, ...drawLimits(random) },
    tools: {
      pay: { effect: "effectful", ...plain },
      look: { effect: "pure", ...plain },
      put: { effect: "idempotent", ...plain },
      alone: { effect: "effectful", ...plain, alone: true },
      poll: { effect: "pure", ...plain, repeats: 10 },
      confirm: { effect: "idempotent", ...plain, client: true, alone: random.chance(0.2) },
    },
    parallel: 1 + random.below(4),
    compactAbove: random.chance(0.5) ? 30 : undefined,
    approvalSeconds: random.chance(0.5) ? 60 : undefined,
    models: [{ id: "m", ...(random.chance(0.8) ? { price: drawPrice(random) } : {}) }],
    retry: { ...defaultRetryPolicy, attempts: 1 + random.below(4) },
  };
}

function drawLimits(random: Random): JsonObject {
  const limits: Record<string, number> = {};
  if (random.chance(0.3)) limits["tokens"] = random.below(600);
  if (random.chance(0.3)) limits["turns"] = random.below(5);
  if (random.chance(0.3)) limits["seconds"] = random.below(200);
  if (random.chance(0.3)) limits["repeats"] = random.below(5);
  if (random.chance(0.3)) limits["cost"] = random.below(10);
  if (random.chance(0.5)) limits["lost"] = 1 + random.below(4);
  return limits;
}

/** Lost requests then cost about as much as those that are reported. */
function drawPrice(random: Random): { readonly input: number; readonly output: number } {
  return { input: random.below(1_000), output: random.below(1_000) };
}

function drawUsage(random: Random): Usage {
  const cost = random.chance(0.5) ? {} : { cost: random.below(3) };
  return { ...noUsage, inputTokens: random.below(50), outputTokens: random.below(10), ...cost };
}
