import { setTimeout as sleep } from "node:timers/promises";
import { fitLine } from "../../kit/fit-line.ts";
import type { Line } from "../../kit/fit-line.ts";
import type { Ask } from "./ask.ts";
import type { Bed } from "./bed.ts";
import type { Side } from "./side.ts";
import { since } from "./spent.ts";
import type { Spent } from "./spent.ts";

/** What runs cost, and how long they took. */
interface Cost {
  readonly spent: Spent;
  readonly seconds: number;
}

/** The cost of so many runs at once, up to what follows their last facts. */
async function costOf(bed: Bed, side: Side, runs: number, ask: Ask): Promise<Cost> {
  const start = performance.now();
  const before = bed.spent(side);
  await side.ended(await side.begin(runs, ask));
  await bed.rest();
  const spent = since(before, bed.spent(side));
  return { spent, seconds: (performance.now() - start) / 1_000 };
}

export interface SlopeOptions {
  readonly runs: number;
  /** The numbers of deltas of a reply. */
  readonly sizes: readonly number[];
  readonly perSecond: number;
}

/**
 * The worker's processor seconds of a run as a line over its deltas, with and without Temporal. Both at the
 * same time, so that what else the machine does befalls both alike.
 */
export async function costPerDelta(bed: Bed, options: SlopeOptions) {
  const { runs, sizes, perSecond } = options;
  const { inline, temporal } = bed;
  const points: Record<"inline" | "temporal", [number, number][]> = { inline: [], temporal: [] };
  for (const deltas of sizes) {
    const ask = { deltas, perSecond };
    const [one, other] = await Promise.all([
      costOf(bed, inline, runs, ask),
      costOf(bed, temporal, runs, ask),
    ]);
    points.inline.push([deltas, one.spent.worker / runs]);
    points.temporal.push([deltas, other.spent.worker / runs]);
  }
  const lines = { inline: fitLine(points.inline), temporal: fitLine(points.temporal) };
  return { ...lines, ratio: lines.temporal.slope / lines.inline.slope };
}

/** What a second costs Temporal's server and its database without any session. */
export async function idleCost(bed: Bed, ms: number): Promise<Pick<Spent, "server" | "database">> {
  const before = bed.spent(bed.temporal);
  const start = performance.now();
  await sleep(ms); // the time is what is measured
  const { server, database } = since(before, bed.spent(bed.temporal));
  const seconds = (performance.now() - start) / 1_000;
  return { server: server / seconds, database: database / seconds };
}

export interface StepsOptions {
  readonly runs: number;
  /** The numbers of rounds of tools of a run. Each has two steps. */
  readonly rounds: readonly number[];
  readonly idle: Pick<Spent, "server" | "database">;
}

/** What one more step costs each part, in processor seconds, and the worker without Temporal. */
export async function costPerStep(bed: Bed, { runs, rounds, idle }: StepsOptions) {
  const { inline, temporal } = bed;
  const costs: { readonly at: number; readonly own: Cost; readonly theirs: Cost }[] = [];
  for (const count of rounds) {
    const ask = { deltas: 1, perSecond: 1_000, rounds: count };
    const theirs = await costOf(bed, temporal, runs, ask);
    const own = await costOf(bed, inline, runs, ask);
    costs.push({ at: runs * stepsOf(count), own, theirs });
  }
  const line = (value: (cost: (typeof costs)[number]) => number): Line =>
    fitLine(costs.map((cost) => [cost.at, value(cost)]));
  return {
    server: line(({ theirs }) => theirs.spent.server - theirs.seconds * idle.server).slope,
    database: line(({ theirs }) => theirs.spent.database - theirs.seconds * idle.database).slope,
    worker: line(({ theirs }) => theirs.spent.worker).slope,
    inline: line(({ own }) => own.spent.worker).slope,
  };
}

/** A reply and its tools are a step each, and the last reply is one. */
export function stepsOf(rounds: number): number {
  return 2 * rounds + 1;
}

export interface HeartbeatOptions {
  readonly runs: number;
  readonly silentMs: number;
  /** A worker that beats often, beside the bed's, which beats seldom. */
  readonly often: Side;
}

/** What one heartbeat costs Temporal's server and its database, in processor seconds. */
export async function costPerHeartbeat(bed: Bed, { runs, silentMs, often }: HeartbeatOptions) {
  const ask = { deltas: 1, perSecond: 1_000, silentMs };
  const beatsOf = (side: Side): Promise<number> => side.requests("RecordActivityTaskHeartbeat");
  const measure = async (side: Side) => {
    const before = await beatsOf(side);
    const { spent } = await costOf(bed, side, runs, ask);
    return { spent, beats: (await beatsOf(side)) - before };
  };
  const few = await measure(bed.temporal);
  const many = await measure(often);
  const beats = many.beats - few.beats;
  const { server, database } = since(few.spent, many.spent);
  return { few: few.beats, many: many.beats, server: server / beats, database: database / beats };
}
