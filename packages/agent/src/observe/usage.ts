import { addUsage, noUsage } from "@millrace/core/writing";
import type { RunEvent, RunId, SessionId, Usage } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import type { Epoch } from "@millrace/core/ports";
import type { Observer } from "../definition/observer.ts";

/** Adds up the usage of sessions. All functions are bound. */
export interface UsageMeter {
  /** The observer for an agent. One meter may observe several agents. */
  readonly observe: Observer;
  /** The usage of all observed sessions. Each token counts once, also with sub-agents. */
  readonly total: () => Usage;
  /** The usage by model, as `protocol/model`; `unknown` if the start of the attempt was not observed. */
  readonly models: () => ReadonlyMap<string, Usage>;
  /** The usage of one session, its sub-agents included. */
  readonly session: (id: SessionId) => Usage;
  /** The usage of one run, its sub-agents included. */
  readonly run: (sessionId: SessionId, runId: RunId) => Usage;
  /** Removes the numbers of a session and its runs. `total` and `models` keep them. */
  readonly forget: (id: SessionId) => void;
}

/**
 * Counts the reported usage of every attempt, also of one that failed, was stopped or superseded,
 * because it was paid for. Estimates nothing. A sum has a cost only if all its reports have one. Keeps
 * a few numbers for each run until `forget`.
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
    // An observed sub-agent has reported the same usage in its own session.
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
  /** The model, or the sub-agent's session, of each epoch of the current run. */
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
