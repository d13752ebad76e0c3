import { isDeepStrictEqual } from "node:util";
import type { Fact } from "@millrace/core";
import type { Random } from "../../kit/random.ts";
import { until } from "../../kit/until.ts";
import type { Lane } from "./lane.ts";
import type { AtStation, CrashPoint } from "./points.ts";
import { WatchedSession } from "./watched-session.ts";

/** What became of a session that passed a crash point. */
export interface Trial {
  readonly point: string;
  /** From the kill, or from the end of the fault, until the run has ended and the client shows it. */
  readonly ms: number;
  readonly violations: readonly string[];
}

/** A session that has not ended by then is left. */
const limitMs = 60_000;

/** Runs one session through a crash point, and judges it. */
export async function runTrial(
  lane: Lane,
  point: CrashPoint,
  name: string,
  random: Random,
): Promise<Trial> {
  using session = await WatchedSession.open(lane, name);
  const { uid } = session.record;
  const { reached, prompt } = point;
  try {
    if ("station" in reached) {
      const { station, pass = () => 1 } = reached;
      lane.stations.arm(uid, { station, pass: pass(random) });
    }
    const sending = session.send(prompt);
    if ("station" in reached) await awaitKill(lane, session, reached);
    else await reached.cause(lane, session, random);
    const from = performance.now();
    const before = await session.facts();
    await session.ended(limitMs);
    const ms = performance.now() - from;
    await sending;
    return await judgeTrial(session, point, { ms, before });
  } finally {
    lane.stations.disarm(uid);
    await lane.settle();
  }
}

async function awaitKill(
  lane: Lane,
  session: WatchedSession,
  { kills, stops = false }: AtStation,
): Promise<void> {
  if (stops) {
    const runsChild = async (): Promise<boolean> => (await session.left([])).children.length > 0;
    await until(runsChild, "the tool has started a process");
    await session.stop();
  }
  const killed = await lane.awaitKill(session.record.uid);
  if (killed !== kills) throw new Error(`a ${killed} was killed instead of a ${kills}`);
}

/** How long a run took after the crash, and what was stored before it. */
export interface Survived {
  readonly ms: number;
  readonly before: readonly Fact[];
}

/** Judges a run that has ended. */
export async function judgeTrial(
  session: WatchedSession,
  { id, holds }: Pick<CrashPoint, "id" | "holds">,
  { ms, before }: Survived,
): Promise<Trial> {
  const left = await session.left(before);
  const isKept = isDeepStrictEqual(left.facts.slice(0, before.length), before);
  const found = await session.judge(left);
  const { sessionId } = session.record;
  const violations = [
    ...found.map(({ kind, what }) => `${kind}: ${what}`),
    ...(isKept ? [] : [`${sessionId}: facts were lost or changed`]),
    ...holds(left).map((what) => `${sessionId}: ${what}`),
  ];
  return { point: id, ms, violations };
}
