import { createHash } from "node:crypto";
import { History } from "./history.ts";
import type { Stage } from "./history.ts";
import { faults, moves, play } from "./moves.ts";
import type { Move } from "./moves.ts";
import type { Setting } from "./setting.ts";
import { settingOf } from "./settings.ts";
import { Violation } from "./violation.ts";

/** How a walk went. `broken` is the promise that it broke, and `path` the moves that led there. */
export interface Walk {
  readonly broken?: string;
  readonly path: readonly string[];
  readonly faults: number;
}

const walkSteps = 150;
const drainSteps = 1_500;

/**
 * A random history: steps and faults by their rate, then steps alone until nothing is left to
 * happen. The same for the same seed.
 */
export async function walk(setting: Setting, seed: number, stage?: Stage): Promise<Walk> {
  const path: string[] = [];
  const history = await History.begin(setting, stage);
  const faults = { count: 0 };
  try {
    await wander(history, randomFrom(seed), path, faults);
    await history.finish();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { broken: error.message, path, faults: faults.count };
  } finally {
    if (stage !== undefined) await history.close();
  }
  return { path, faults: faults.count };
}

async function wander(
  history: History,
  random: (below: number) => number,
  path: string[],
  happened: { count: number },
): Promise<void> {
  const go = (move: Move): Promise<void> => {
    path.push(move.name);
    return play(history, move);
  };
  for (let at = 0; at < walkSteps; at += 1) {
    const bad = random(100) < history.setting.rate ? faults(history) : [];
    const move = pick(bad.length > 0 ? bad : moves(history), random);
    if (move === undefined) break;
    if (bad.length > 0) happened.count += 1;
    await go(move);
  }
  history.faults = 0;
  for (let at = 0; ; at += 1) {
    const move = pick(moves(history), random);
    if (move === undefined) return;
    if (at > drainSteps) throw new Violation("it never comes to rest");
    await go(move);
  }
}

/** A kind first, so that many possible cuts do not crowd out one reset. */
function pick(list: readonly Move[], random: (below: number) => number): Move | undefined {
  const kinds: string[] = [];
  for (const { kind } of list) if (!kinds.includes(kind)) kinds.push(kind);
  if (kinds.length === 0) return undefined;
  const kind = kinds[random(kinds.length)];
  const those = list.filter((move) => move.kind === kind);
  return those[random(those.length)];
}

/** Xorshift: small, quick, the same everywhere. */
function randomFrom(seed: number): (below: number) => number {
  let state = (Math.imul(seed, 2_654_435_761) + 1) >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

/** What was seen of many histories. */
export interface Explored {
  readonly faults: number;
  readonly steps: number;
  /** The kinds of moves that were made. */
  readonly kinds: ReadonlySet<string>;
  /** The first history that broke a promise: which promise, its seed and its path. */
  readonly broken?: string;
}

/** Which histories to walk through. */
export interface Walks {
  /** The first seed. */
  readonly first: number;
  readonly count: number;
  /** How many are walked at a time. More than one is of use where engines are waited for. */
  readonly together?: number;
  /** What each of them is played on. */
  readonly stageOf?: ((seed: number) => Stage) | undefined;
}

/** Walks through so many histories, up to the first that breaks a promise. */
export async function explore({ first, count, together = 1, stageOf }: Walks): Promise<Explored> {
  const kinds = new Set<string>();
  let faults = 0;
  let steps = 0;
  let next = first;
  let broken: string | undefined;
  const work = async (): Promise<void> => {
    while (next < first + count && broken === undefined) {
      const seed = next;
      next += 1;
      const walked = await walk(settingOf(seed), seed, stageOf?.(seed));
      faults += walked.faults;
      steps += walked.path.length;
      for (const name of walked.path) kinds.add(name.slice(0, name.indexOf(" ")));
      if (walked.broken !== undefined)
        broken ??= `${walked.broken}; SEED=${seed}: ${walked.path.join(" > ")}`;
    }
  };
  await Promise.all(Array.from({ length: together }, work));
  return { faults, steps, kinds, ...(broken === undefined ? {} : { broken }) };
}

/** What was seen of all histories of a setting. */
export interface Exhausted {
  readonly states: number;
  readonly ends: number;
  /** False: the limit came first. */
  readonly complete: boolean;
  readonly broken?: string;
  readonly path?: readonly string[];
}

/**
 * All histories of a small setting, depth first. Real stores can't be copied, so a branch is played
 * again from the start; a state that was seen before is not gone on from.
 */
export async function exhaust(setting: Setting, limit: number): Promise<Exhausted> {
  const seen = new Set<string>();
  const branches: (readonly number[])[] = [[]];
  let ends = 0;
  for (let branch = branches.pop(); branch !== undefined; branch = branches.pop()) {
    const path: string[] = [];
    try {
      const history = await History.begin(setting);
      const choices = [...branch];
      for (const choice of branch) {
        const move = [...moves(history), ...faults(history)][choice] as Move; // as it was then
        path.push(move.name);
        await play(history, move);
      }
      for (;;) {
        const key = await keyOf(history);
        if (seen.has(key)) break;
        seen.add(key);
        if (seen.size > limit) return { states: seen.size, ends, complete: false };
        const calm = moves(history);
        const all = [...calm, ...faults(history)];
        if (calm.length === 0) {
          ends += 1;
          await history.finish();
        }
        const move = all[0];
        if (move === undefined) break;
        for (let at = 1; at < all.length; at += 1) branches.push([...choices, at]);
        choices.push(0);
        path.push(move.name);
        await play(history, move);
      }
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      return { states: seen.size, ends, complete: false, broken: error.message, path };
    }
  }
  return { states: seen.size, ends, complete: true };
}

/** All that what may still happen depends on. */
async function keyOf(history: History): Promise<string> {
  const { session, drivers, writers, hubs, viewers } = history;
  const log: unknown[] = [];
  for (const lane of session.opened.keys()) {
    const held = await session.node(0).log.read(session.uid, lane);
    log.push(held.map(({ epoch, first, last }) => [epoch, first, last]));
  }
  const state = JSON.stringify([
    session.truths.facts,
    [...session.opened],
    log,
    history.faults,
    history.left,
    drivers.map((at) => [at.incarnation, at.alive, at.known, at.generation, [...at.started]]),
    writers.map((at) => [at.epoch, at.phase, at.head, at.texts, at.idles, at.asked, at.givenUp]),
    writers.map((at) => [at.stop, at.replaces]),
    hubs.map((at) => [at.phase, at.state.head, lanesOf(at.state), at.waiting]),
    viewers.map((at) => [at.hub, at.state.head, lanesOf(at.state), at.inbox, [...at.seen]]),
  ]);
  return createHash("md5").update(state).digest("base64");
}

function lanesOf({ lanes }: History["viewers"][number]["state"]): unknown {
  return lanes.map(({ lane, epoch, seq }) => [lane, epoch, seq]);
}
