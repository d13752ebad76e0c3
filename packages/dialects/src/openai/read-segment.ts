import { runId as admitRun } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { segmentsOf } from "./encode/response-segment.ts";
import type { ResponseSegment } from "./encode/response-segment.ts";
import { segmentOf, responsePrefix } from "./encode/response-id.ts";
import type { SegmentRef } from "./encode/response-id.ts";
import type { FollowedSegment } from "./encode/run-event-builder.ts";
import { notFound, Problem, readRunFacts } from "@millrace/server/dialect";
import type { RouteContext, SessionAction } from "@millrace/server/dialect";

/** A segment of a run, and what is stored of the run. */
export interface ReadSegment {
  readonly segment: FollowedSegment;
  /** From the one on that accepted its prompt, to the run's end. */
  readonly facts: readonly Fact[];
  /** All segments of the run. */
  readonly segments: readonly ResponseSegment[];
}

/** Reads a segment. Undefined if there is none: of this run, or from this fact on. */
export async function readSegment(
  { store }: Pick<RouteContext, "store">,
  { uid, sessionId }: Pick<SessionRecord, "uid" | "sessionId">,
  { runId, from }: Pick<SegmentRef, "runId" | "from">,
): Promise<ReadSegment | undefined> {
  const read = await readRunFacts(store, uid, runId);
  const [accepted] = read?.facts ?? [];
  if (read === undefined || accepted?.type !== "input_accepted") return undefined;
  if (accepted.input.kind !== "prompt") return undefined;
  const end = read.facts.findIndex((fact) => fact.type === "run_finished" && fact.runId === runId);
  const facts = end < 0 ? read.facts : read.facts.slice(0, end + 1);
  const run = { uid, sessionId, runId: admitRun(runId), head: accepted.n - 1 };
  const segments = segmentsOf(run, facts);
  const at = segments.findIndex((segment) => segment.from === from);
  if (at < 0) return undefined;
  return { segment: { ...run, from, before: segments[at - 1]?.from }, facts, segments };
}

/** A response that a request names: its session, for which the caller may do this, and its segment. */
export interface NamedResponse extends ReadSegment {
  readonly session: SessionRecord;
}

/** Finds a response by its id. Throws the one 404. */
export async function openResponse(
  context: RouteContext,
  id: string,
  action: SessionAction,
): Promise<NamedResponse> {
  const ref = segmentOf(responsePrefix, id);
  const session = ref && (await context.open(ref.sessionId, action));
  if (ref !== undefined && session === undefined && (await context.open(ref.sessionId, "read")))
    throw new Problem("forbidden", `you may read this session, but not ${action}`);
  const read = session && (await readSegment(context, session, ref));
  if (session === undefined || read === undefined) throw notFound();
  return { session, ...read };
}
