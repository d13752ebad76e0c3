import type { Fact, RunId, SessionState } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { readSession } from "@millrace/core/reading";
import { runIdOf } from "@millrace/core/writing";
import { isWaiting } from "./encode/waiting.ts";
import { waitsOf } from "./encode/waits.ts";
import type { Wait } from "./encode/waits.ts";
import type { RouteContext } from "@millrace/server/dialect";
import { readBack } from "@millrace/server/dialect";

/** A run that a page can be shown. */
export interface SessionRun {
  readonly runId: RunId;
  /** The fact before its start. */
  readonly head: number;
  /** Where it waited for an answer. */
  readonly waits: readonly Wait[];
  /** From its start on. */
  readonly facts: readonly Fact[];
}

/** Where a session stands. */
export interface SessionRuns {
  readonly state: SessionState;
  /** The facts that were read, without a gap up to the state's head. */
  readonly facts: readonly Fact[];
  /** The run that is on. */
  readonly run: SessionRun | undefined;
  readonly isWaiting: boolean;
  /** The run that ended last. */
  readonly ended: SessionRun | undefined;
  /** The run that begins next. */
  readonly next: Pick<SessionRun, "runId" | "head"> | undefined;
}

/** Reads where a session stands: by its checkpoint, and the facts since the start of its last run. */
export async function readSessionRuns(
  { store }: Pick<RouteContext, "store">,
  { uid, sessionId }: Pick<SessionRecord, "uid" | "sessionId">,
): Promise<SessionRuns> {
  const { paged, facts: newest } = await readSession({ store, uid, sessionId });
  const { state } = paged;
  const { run, ended, queue } = state;
  const queued = queue.find(({ input }) => input.kind === "prompt");
  const wanted = [run?.runId, ended?.runId].filter((runId) => runId !== undefined);
  const isThere = (facts: readonly Fact[]): boolean =>
    wanted.every((runId) => startOf(facts, runId) >= 0) &&
    (queued === undefined || acceptedAt(facts, queued.inputId) !== undefined);
  let facts = newest;
  for await (facts of readBack({ store, uid, before: state.head + 1, newest }))
    if (isThere(facts)) break;
  const runOf = (runId: RunId | undefined): SessionRun | undefined => {
    const at = runId === undefined ? -1 : startOf(facts, runId);
    const start = facts[at];
    if (runId === undefined || start === undefined) return undefined;
    const head = start.n - 1;
    const own = facts.slice(at);
    const waits = waitsOf({ uid, sessionId, runId, head }, own);
    return { runId, head, waits, facts: own };
  };
  const accepted = queued && acceptedAt(facts, queued.inputId);
  return {
    state,
    facts,
    run: runOf(run?.runId),
    isWaiting: isWaiting(state),
    ended: runOf(ended?.runId),
    next:
      queued === undefined || accepted === undefined
        ? undefined
        : { runId: runIdOf(queued.inputId), head: accepted - 1 },
  };
}

function startOf(facts: readonly Fact[], runId: RunId): number {
  return facts.findLastIndex((fact) => fact.type === "run_started" && fact.runId === runId);
}

function acceptedAt(facts: readonly Fact[], inputId: string): number | undefined {
  return facts.find((fact) => fact.type === "input_accepted" && fact.inputId === inputId)?.n;
}
