import { addUsage, noUsage } from "@millrace/core/writing";
import type { RunEvent, RunId, SessionId, Usage } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import type { Epoch } from "@millrace/core/ports";
import type { Observer } from "../definition/observer.ts";

/** Adds up what sessions use. All functions are bound. */
export interface UsageMeter {
  /** To be given to an agent. One meter may watch several. */
  readonly observe: Observer;
  /** Of all that was watched, each token once. */
  readonly total: () => Usage;
  /** By the model that was asked, as `protocol/model`; `unknown` if its attempt was not seen. */
  readonly models: () => ReadonlyMap<string, Usage>;
  /** Of one session, what its sub-agents used included. */
  readonly session: (id: SessionId) => Usage;
  /** Of one run, what its sub-agents used included. */
  readonly run: (sessionId: SessionId, runId: RunId) => Usage;
  /** Lets go of a session's numbers and of its runs'. The total and the models keep them. */
  readonly forget: (id: SessionId) => void;
}

/**
 * Counts every attempt that reports what it used, also one that failed, was stopped or superseded:
 * it was paid for. Nothing is guessed. A cost is known only if all are. Keeps a few numbers for each
 * run until `forget`.
 */
export function createUsageMeter(): UsageMeter {
  const sessions = new Map<SessionId, SessionMeter>();
  const models = new Map<string, Usage>();
  let total = noUsage;
  const report = (meter: SessionMeter, fact: FactOf<"usage_reported">): void => {
    const { usage, runId, epoch } = fact;
    meter.total = addUsage(meter.total, usage);
    meter.runs.set(runId, addUsage(meter.runs.get(runId) ?? noUsage, usage));
    const writer = meter.writers.get(epoch);
    // A sub-agent that is watched itself has reported this already, in its own session.
    if (writer?.child !== undefined && sessions.has(writer.child)) return;
    const model = writer?.model ?? "unknown";
    total = addUsage(total, usage);
    models.set(model, addUsage(models.get(model) ?? noUsage, usage));
  };
  return {
    observe: (event) => {
      const meter = sessions.get(event.sessionId) ?? newMeter();
      sessions.set(event.sessionId, meter);
      if (event.type === "usage_reported") report(meter, event);
      else follow(meter, event);
    },
    total: () => total,
    models: () => new Map(models),
    session: (id) => sessions.get(id)?.total ?? noUsage,
    run: (id, runId) => sessions.get(id)?.runs.get(runId) ?? noUsage,
    forget: (id) => void sessions.delete(id),
  };
}

interface SessionMeter {
  total: Usage;
  readonly runs: Map<RunId, Usage>;
  /** Who writes under an epoch: which model, or which session of a sub-agent. For the run that is on. */
  readonly writers: Map<Epoch, Writer>;
}

interface Writer {
  readonly model?: string | undefined;
  readonly child?: SessionId | undefined;
}

function newMeter(): SessionMeter {
  return { total: noUsage, runs: new Map(), writers: new Map() };
}

function follow({ writers }: SessionMeter, event: RunEvent): void {
  if (event.type === "attempt_started" && event.model !== undefined) {
    writers.set(event.epoch, { model: event.model });
  } else if (event.type === "tool_execution_started" && event.childSessionId !== undefined) {
    writers.set(event.epoch, { child: event.childSessionId });
  } else if (event.type === "run_finished") writers.clear();
}
