import { setTimeout as sleep } from "node:timers/promises";
import type { TemporalServer } from "../../../scripts/services/temporal.ts";
import type { Directive } from "../../kit/deployment/directive.ts";
import type { Random } from "../../kit/random.ts";
import { runs } from "../../kit/runs.ts";
import { writerOf } from "./faults.ts";
import { completed } from "./holds.ts";
import type { Lane } from "./lane.ts";
import { judgeTrial } from "./trial.ts";
import type { Trial } from "./trial.ts";
import { WatchedSession } from "./watched-session.ts";

/** A crash point that befalls all lanes at once, since they share Temporal. */
export interface SharedPoint {
  readonly id: string;
  readonly when: string;
  /** Whether a prompt is sent while it lasts. */
  readonly takesPrompts: boolean;
  readonly begin: (place: SharedPlace) => Promise<void>;
  /** How long it lasts. */
  readonly ms: number;
  readonly end: (place: SharedPlace) => Promise<void>;
}

export interface SharedPlace {
  readonly lanes: readonly Lane[];
  readonly temporal: TemporalServer;
  readonly random: Random;
}

const awayMs = Number(process.env["AWAY_MS"] ?? runs(20_000, 300_000));

export const sharedPoints: readonly SharedPoint[] = [
  {
    id: "C26",
    when: `Temporal's server is away for ${awayMs / 1_000} s`,
    takesPrompts: true,
    begin: ({ temporal }) => temporal.kill(),
    ms: awayMs,
    end: ({ temporal }) => temporal.restart(),
  },
  {
    id: "C28",
    when: "everything is killed at once, and started in random order",
    takesPrompts: false,
    begin: async ({ lanes, temporal }) => {
      const servers = lanes.flatMap(({ deployment: { redis, postgres } }) => [redis, postgres]);
      const nodes = lanes.flatMap(({ deployment }) => deployment.nodes);
      await Promise.all([
        ...nodes.map(({ process }) => process.kill()),
        ...[...servers, temporal, temporal.postgres].map((server) => server.kill()),
      ]);
    },
    ms: 0,
    end: async ({ lanes, temporal, random }) => {
      const starts = [
        ...lanes.flatMap(({ deployment: { redis, postgres, nodes } }) => [
          () => redis.restart(),
          () => postgres.restart(),
          ...nodes.map(
            ({ process }) =>
              () =>
                process.start(),
          ),
        ]),
        () => temporal.postgres.restart(),
        () => startUntilUp(temporal),
      ];
      const started: Promise<void>[] = [];
      while (starts.length > 0) {
        const [start] = starts.splice(random.below(starts.length), 1);
        if (start !== undefined) started.push(start());
        await sleep(random.next() * 100);
      }
      await Promise.all(started);
    },
  },
];

type Prompt = Pick<Directive, "mode" | "length">;

/** The prompts that are on when it happens, one session for each. */
const prompts: readonly Prompt[] = [
  { mode: "plain", length: 1_000 },
  { mode: "many", length: 60 },
];
const short: Prompt = { mode: "plain", length: 60 };
const limitMs = 120_000;

/** Lets one of them happen in the middle of runs of all lanes, and judges each run. */
export async function runShared(
  point: SharedPoint,
  place: SharedPlace,
  name: string,
): Promise<readonly Trial[]> {
  using stack = new DisposableStack();
  const open = async (lane: Lane, at: number): Promise<WatchedSession> =>
    stack.use(await WatchedSession.open(lane, `${name}-${at}`));
  const sessions = await Promise.all(
    place.lanes.flatMap((lane) => prompts.map((_, at) => open(lane, at))),
  );
  const later = point.takesPrompts
    ? await Promise.all(place.lanes.map((lane) => open(lane, prompts.length)))
    : [];
  const sending = sessions.map((session, at) =>
    session.send(prompts[at % prompts.length] ?? short),
  );
  await Promise.all(sessions.map((session) => writerOf(session)));
  const stored = await Promise.all(sessions.map((session) => session.facts()));
  await point.begin(place);
  sending.push(...later.map((session) => session.send(short)));
  await sleep(point.ms);
  await point.end(place);
  const from = performance.now();
  const trials = [...sessions, ...later].map(async (session, at): Promise<Trial> => {
    await session.ended(limitMs);
    const survived = { ms: performance.now() - from, before: stored[at] ?? [] };
    return await judgeTrial(session, { id: point.id, holds: completed }, survived);
  });
  await Promise.all(sending);
  return await Promise.all(trials);
}

/** It ends by itself while its database is away, and a supervisor starts it again. */
async function startUntilUp(server: TemporalServer): Promise<void> {
  let isUp = false;
  while (!isUp)
    isUp = await server.restart().then(
      () => true,
      () => false,
    );
}
