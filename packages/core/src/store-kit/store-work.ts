import { isClosing } from "../event/epoch.ts";
import type { Fact } from "../event/event.ts";
import type { CallId, InputId, RunId } from "../ids.ts";
import type { SessionStatus } from "../ports/session-record.ts";

/** What a store keeps of each session so that its index finds those that have work, and its pages their order. */
export interface StoreWork {
  /** The run that is on. */
  readonly run?: RunId | undefined;
  /** The inputs that will begin a run, in their order. */
  readonly queue: readonly WaitingInput[];
  /** The driver that made the last claim. Unset by a claim without a name, and by a release. */
  readonly driver?: string | undefined;
  /** The calls of the run that were asked about or started, and that have no result. */
  readonly calls: readonly WaitingCall[];
  /** The time of the last activity: of the last fact of a person, or by which the status changed. */
  readonly updatedAt: number;
}

/** A call without a result, and what it waits for: a person's decision, a client's answer, or its driver. */
export interface WaitingCall {
  readonly callId: CallId;
  readonly on: "person" | "client" | "driver";
}

/** An input that begins a run when the one before it has ended. */
export interface WaitingInput {
  readonly inputId: InputId;
  readonly kind: "prompt" | "steer" | "follow_up";
}

/** The work of a session without facts. */
export const noWork: StoreWork = { queue: [], calls: [], updatedAt: 0 };

/** True if a driver is needed: a run is on, or an input waits for one. */
export function hasWork({ run, queue }: StoreWork): boolean {
  return run !== undefined || queue.length > 0;
}

/** The status of a session with this work: the one rule of all stores. */
export function statusOf(work: StoreWork): SessionStatus {
  if (!hasWork(work)) return "idle";
  const { run, calls } = work;
  const waits = run !== undefined && calls.length > 0 && calls.every(({ on }) => on !== "driver");
  return waits ? "paused" : "running";
}

/** The work after these facts. `driver` is the name with which the claim among them was made. */
export function workAfter(before: StoreWork, facts: readonly Fact[], driver?: string): StoreWork {
  return facts.reduce<StoreWork>((work, fact) => {
    const after = { ...next(work, fact, driver), calls: callsAfter(work, fact) };
    const isActive = isPeoples(fact) || statusOf(after) !== statusOf(work);
    const updatedAt = Math.max(work.updatedAt, isActive ? fact.time : 0);
    return { ...after, updatedAt };
  }, before);
}

function isPeoples({ type }: Fact): boolean {
  return type === "input_accepted" || type === "queue_updated" || type === "approval_resolved";
}

function callsAfter({ run, calls }: StoreWork, fact: Fact): StoreWork["calls"] {
  switch (fact.type) {
    case "run_started":
    case "run_finished":
    case "turn_started":
    case "turn_finished":
      return [];
    case "approval_requested":
      return waitingOn(calls, fact.callId, "person");
    case "approval_resolved":
      return movedOn(calls, "person", fact.callId);
    case "tool_execution_started":
      return waitingOn(calls, fact.callId, isClosing(fact.epoch) ? "client" : "driver");
    case "tool_execution_finished":
      return calls.filter(({ callId }) => callId !== fact.callId);
    case "input_accepted": {
      const { input } = fact;
      if (input.kind === "answer") return movedOn(calls, "client", input.callId);
      // Its driver settles the calls of a run that is stopped.
      const stops = input.kind === "abort" && (input.runId ?? run) === run;
      return stops ? calls.map(({ callId }) => ({ callId, on: "driver" })) : calls;
    }
    case "item_committed":
    case "item_replaced": {
      if (calls.length === 0 || fact.item.author !== "tool") return calls;
      const settled = new Set(
        fact.item.parts.map((part) => (part.kind === "tool_result" ? part.callId : undefined)),
      );
      return calls.filter(({ callId }) => !settled.has(callId));
    }
    default:
      return calls;
  }
}

function waitingOn(
  calls: StoreWork["calls"],
  callId: CallId,
  on: WaitingCall["on"],
): StoreWork["calls"] {
  return [...calls.filter((call) => call.callId !== callId), { callId, on }];
}

/** The calls after one got what it waited for: its driver goes on with it. */
function movedOn(
  calls: StoreWork["calls"],
  from: WaitingCall["on"],
  callId: CallId,
): StoreWork["calls"] {
  const waits = calls.some((call) => call.callId === callId && call.on === from);
  return waits ? waitingOn(calls, callId, "driver") : calls;
}

function next(work: StoreWork, fact: Fact, driver: string | undefined): StoreWork {
  switch (fact.type) {
    case "session_claimed":
      return { ...work, driver };
    case "session_released":
      return { ...work, driver: undefined };
    case "run_started":
      return { ...work, run: fact.runId };
    case "run_finished": {
      // What was meant for a run that a person stopped does not begin one by itself.
      const queue =
        fact.outcome === "aborted"
          ? work.queue.filter(({ kind }) => kind === "prompt")
          : work.queue;
      return { ...work, run: undefined, queue };
    }
    case "input_accepted": {
      const { inputId, input } = fact;
      if (input.kind === "abort" || input.kind === "answer") return work;
      return { ...work, queue: [...work.queue, { inputId, kind: input.kind }] };
    }
    case "queue_updated":
      return without(work, fact.inputId);
    case "item_committed":
    case "item_replaced":
      return fact.inputId === undefined ? work : without(work, fact.inputId);
    default:
      return work;
  }
}

function without(work: StoreWork, inputId: InputId): StoreWork {
  if (work.queue.every((waiting) => waiting.inputId !== inputId)) return work;
  return { ...work, queue: work.queue.filter((waiting) => waiting.inputId !== inputId) };
}
