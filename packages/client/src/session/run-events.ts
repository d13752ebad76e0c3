import { MillraceError } from "@millrace/core";
import type { Fact, RunEvent, RunId, SessionState } from "@millrace/core";
import { apply, outputOf } from "@millrace/core/reading";
import type { RunResult } from "@millrace/core/reading";
import type { Batch } from "@millrace/core/ports";
import type { SessionChange, WatchedSession } from "../stream/watched.ts";
import { RunText } from "./run-text.ts";

/** A run whose events are read. */
export interface IteratedRun {
  readonly runId: RunId;
  readonly session: WatchedSession;
  readonly watch: (listener: () => void) => () => void;
  readonly settle: () => Promise<RunResult<unknown>>;
  readonly closed: AbortSignal;
}

/**
 * The events of a run from now on until its end: facts, and live events with their place. What a snapshot
 * stands for, after a long break, is left out.
 */
export async function* eventsOf(run: IteratedRun): AsyncGenerator<RunEvent, void> {
  for await (const { before, messages } of tapsOf(run)) {
    let state = before;
    for (const message of messages) {
      if (isOf(message, run.runId, state?.run?.runId)) yield* eventsIn(message, state);
      if (isEnd(message, run.runId)) return;
      state = state && apply(state, message).state;
    }
  }
}

/** The text of a run's answer as it comes. What a snapshot brings is part of it: nothing is left out. */
export async function* textsOf(run: IteratedRun): AsyncGenerator<string, void> {
  const text = new RunText(run.runId);
  const { state: now } = run.session;
  yield* text.take(now);
  for await (const { state, messages } of tapsOf(run)) {
    const isLast = messages.some((message) => isEnd(message, run.runId));
    yield* text.take(state, isLast);
    if (isLast) break;
  }
  const result = await run.settle();
  yield* text.end(result.text);
  textOrThrow(result);
}

/** The text of a run that completed. Throws a `MillraceError` with its outcome otherwise. */
export function textOrThrow(result: RunResult<unknown>): string {
  if (result.outcome === "completed") return result.text;
  if (result.outcome === "failed") throw result.error;
  if (result.outcome === "aborted") throw new MillraceError("aborted", "the run was stopped");
  throw new MillraceError("limit_reached", `the run ended at its limit: ${result.limit}`);
}

/** What comes of a session until the run is over and its end was seen, or can't be seen any more. */
async function* tapsOf({
  session,
  runId,
  watch,
  settle,
  closed,
}: IteratedRun): AsyncGenerator<SessionChange> {
  const taps: SessionChange[] = [];
  let result: RunResult<unknown> | undefined;
  const tap = (each: SessionChange): void => void taps.push(each);
  const watchAll = (listener: () => void): (() => void) => {
    const notice = async (): Promise<void> => {
      result = await settle();
      listener();
    };
    void notice();
    return watch(listener);
  };
  session.taps.add(tap);
  try {
    for await (const _ of changesOf(watchAll, closed)) {
      for (let each = taps.shift(); each !== undefined; each = taps.shift()) yield each;
      if (result !== undefined && isPast(session, runId, result)) return;
    }
  } finally {
    session.taps.delete(tap);
  }
}

/** True if what is shown has neither the run nor its prompt: it is over, or not yet shown. */
export function isOver({ state, ended }: WatchedSession, runId: RunId): boolean {
  if (state === undefined) return ended !== undefined;
  const isQueued = state.queue.some(({ inputId }) => inputId === inputOf(runId));
  return state.run?.runId !== runId && !isQueued;
}

/** Whether what is shown is after the end of a run that has this result. Else the stream is behind it. */
function isPast(session: WatchedSession, runId: RunId, { outcome }: RunResult<unknown>): boolean {
  const { state } = session;
  // One that was refused or taken back never began.
  const mayLack = outcome !== "completed";
  if (state === undefined) return mayLack || isOver(session, runId);
  if (!isOver(session, runId)) return false;
  if (mayLack || state.ended?.runId === runId) return true;
  return state.items.findLastIndex(({ id }) => id === runId.replace(/^run_/, "item_")) >= 0;
}

/** The prompt of a run, as the server names both. */
function inputOf(runId: RunId): string {
  return runId.replace(/^run_/, "input_");
}

function isEnd(message: Fact | Batch, runId: RunId): boolean {
  return "n" in message && message.type === "run_finished" && message.runId === runId;
}

/** A message with a run id belongs to that run; any other to the current run, or to the one its input begins. */
function isOf(message: Fact | Batch, runId: RunId, current: RunId | undefined): boolean {
  if ("runId" in message && message.runId !== undefined) return message.runId === runId;
  if (current === runId) return true;
  return "n" in message && message.type === "input_accepted" && message.inputId === inputOf(runId);
}

function eventsIn(message: Fact | Batch, before: SessionState | undefined): readonly RunEvent[] {
  if ("n" in message) {
    const isResult = message.type === "tool_execution_finished" && before !== undefined;
    const output = isResult ? outputOf(before, message) : undefined;
    return [output === undefined ? message : Object.assign({}, message, { output })];
  }
  const { sessionId, runId, turnId, itemId, lane, epoch, time } = message;
  const place = { sessionId, runId, turnId, itemId, lane, epoch, time };
  return message.events.map((event) => ({ ...event, ...place }));
}

/**
 * Yields at once, and again after each change of a session, until its consumer leaves or the session is
 * closed here. Changes that come while the consumer works are one.
 */
export async function* changesOf(
  watch: (listener: () => void) => () => void,
  closed: AbortSignal,
): AsyncGenerator<void, void> {
  let isNew = true;
  let wake: (() => void) | undefined;
  const note = (): void => {
    isNew = true;
    wake?.();
  };
  const unwatch = watch(note);
  closed.addEventListener("abort", note, { once: true });
  try {
    while (isNew || !closed.aborted) {
      if (isNew) {
        isNew = false;
        yield;
      } else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    unwatch();
    closed.removeEventListener("abort", note);
  }
}
