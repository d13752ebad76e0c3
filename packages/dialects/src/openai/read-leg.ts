import { runId as admitRun } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { legsOf } from "./encode/leg.ts";
import type { Leg } from "./encode/leg.ts";
import { legOf, responsePrefix } from "./encode/response-id.ts";
import type { LegRef } from "./encode/response-id.ts";
import type { ToldLeg } from "./encode/run-event-builder.ts";
import { notFound, Problem, readRunFacts } from "@millrace/server/dialect";
import type { RouteContext, SessionAction } from "@millrace/server/dialect";

/** A leg of a run, and what is stored of the run. */
export interface ReadLeg {
  readonly leg: ToldLeg;
  /** From the one on that accepted its prompt, to the run's end. */
  readonly facts: readonly Fact[];
  /** All legs of the run. */
  readonly legs: readonly Leg[];
}

/** Reads a leg. Undefined if there is none: of this run, or from this fact on. */
export async function readLeg(
  { store }: Pick<RouteContext, "store">,
  { uid, sessionId }: Pick<SessionRecord, "uid" | "sessionId">,
  { runId, from }: Pick<LegRef, "runId" | "from">,
): Promise<ReadLeg | undefined> {
  const read = await readRunFacts(store, uid, runId);
  const [accepted] = read?.facts ?? [];
  if (read === undefined || accepted?.type !== "input_accepted") return undefined;
  if (accepted.input.kind !== "prompt") return undefined;
  const end = read.facts.findIndex((fact) => fact.type === "run_finished" && fact.runId === runId);
  const facts = end < 0 ? read.facts : read.facts.slice(0, end + 1);
  const run = { uid, sessionId, runId: admitRun(runId), head: accepted.n - 1 };
  const legs = legsOf(run, facts);
  const at = legs.findIndex((leg) => leg.from === from);
  if (at < 0) return undefined;
  return { leg: { ...run, from, before: legs[at - 1]?.from }, facts, legs };
}

/** A response that a request names: its session, for which the caller may do this, and its leg. */
export interface NamedResponse extends ReadLeg {
  readonly session: SessionRecord;
}

/** Finds a response by its id. Throws the one 404. */
export async function openResponse(
  context: RouteContext,
  id: string,
  action: SessionAction,
): Promise<NamedResponse> {
  const ref = legOf(responsePrefix, id);
  const session = ref && (await context.open(ref.sessionId, action));
  if (ref !== undefined && session === undefined && (await context.open(ref.sessionId, "read")))
    throw new Problem("forbidden", `you may read this session, but not ${action}`);
  const read = session && (await readLeg(context, session, ref));
  if (session === undefined || read === undefined) throw notFound();
  return { session, ...read };
}
