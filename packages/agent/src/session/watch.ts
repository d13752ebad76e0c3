import { narrate } from "@millrace/core";
import { apply, emptyState, follow, outputOf, restore } from "@millrace/core/reading";
import type { Fact, InputId, Narration, RunEvent, RunId, SessionState } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import type { SessionHost } from "./session-host.ts";

/** A run to watch, and the input that began it. */
export interface Watched {
  readonly runId: RunId;
  readonly inputId: InputId;
}

/**
 * The events of a run from its beginning until its end: facts, and live events with their place. A
 * `tool_execution_finished` also has the tool's output, which the fact itself has not.
 */
export async function* eventsOf(host: SessionHost, run: Watched): AsyncGenerator<RunEvent, void> {
  for await (const { before, message } of messagesOf(host, run)) {
    if ("n" in message) {
      const output =
        message.type === "tool_execution_finished" ? outputOf(before, message) : undefined;
      yield output === undefined ? message : Object.assign({}, message, { output });
    } else yield* liveEvents(message);
  }
}

/** The run as flat events for display, from its beginning until its end. */
export async function* narrationOf(
  host: SessionHost,
  run: Watched,
): AsyncGenerator<Narration, void> {
  for await (const { before, message } of messagesOf(host, run)) yield* narrate(before, message);
}

interface StateAndMessage {
  readonly message: Fact | Batch;
  /** The state before the message. */
  readonly before: SessionState;
}

async function* messagesOf(host: SessionHost, run: Watched): AsyncGenerator<StateAndMessage, void> {
  const { store, log, clock, record } = host.options;
  const { uid, sessionId } = record;
  await host.recall(run);
  const { runs, state: now } = host.journal;
  const n = runs.firstOf(run) ?? now.head + 1;
  // What was before the run is in no event of it, so nothing before it is read.
  let state: SessionState = { ...emptyState(uid, sessionId), head: n - 1 };
  const cursor = { uid, head: n - 1, lanes: [] };
  const done = new AbortController();
  const isOver = (): boolean => host.closed || host.stalled !== undefined;
  const over = host.until(() => (isOver() ? true : undefined), done.signal);
  void over.then(() => done.abort());
  try {
    for await (const { message } of follow({
      store,
      log,
      clock,
      uid,
      sessionId,
      cursor,
      start: host.journal.paged,
      signal: done.signal,
    })) {
      if ("uid" in message) {
        state = restore(message);
        continue;
      }
      const before = state;
      state = apply(state, message).state;
      if (concerns(message, run, state.run?.runId)) yield { message, before };
      if ("n" in message && message.type === "run_finished" && message.runId === run.runId) return;
      if ("n" in message && message.type === "queue_updated" && message.inputId === run.inputId)
        return;
    }
  } finally {
    done.abort();
  }
}

function isInputOf(fact: Fact, { inputId }: Watched): boolean {
  return fact.type === "input_accepted" && fact.inputId === inputId;
}

/** A message with a run id belongs to that run; any other to the current run, or to the one its input begins. */
function concerns(message: Fact | Batch, run: Watched, current: RunId | undefined): boolean {
  if ("runId" in message && message.runId !== undefined) return message.runId === run.runId;
  return current === run.runId || ("n" in message && isInputOf(message, run));
}

function liveEvents(batch: Batch): readonly RunEvent[] {
  const { sessionId, runId, turnId, itemId, lane, epoch, time } = batch;
  const place = { sessionId, runId, turnId, itemId, lane, epoch, time };
  return batch.events.map((event) => ({ ...event, ...place }));
}
