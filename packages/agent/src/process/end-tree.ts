import { setTimeout as sleep } from "node:timers/promises";

import type { ProcessRow } from "./lineage.ts";
import type { ProcessTree } from "./process-tree.ts";

export interface EndTreeOptions {
  /** How long processes may take to end by themselves after they were asked. */
  readonly graceMs: number;
  /** Not asked, only killed: a wrapper whose end would take the rest with it. */
  readonly spared?: number | undefined;
}

export interface EndedTree {
  /** How many processes were found living and are gone. */
  readonly ended: number;
  /** The pids of those that would not go: of another user, or stuck in the kernel. */
  readonly survivors: readonly number[];
}

/** How long we try to have everybody stopped before they are asked. */
const stopMs = 500;
/** How long killing may take before the rest is reported as survivors. */
const killMs = 2_000;
const killRounds = 4;
/** How often those are looked for that were started while others were being stopped. */
const stopRounds = 8;

/**
 * Ends all processes of a tree: stops them, asks, waits as long as they were granted, kills, and
 * looks again until two looks in a row find nobody. Takes at most the grace and some 2 s, and a few
 * milliseconds if all end when asked. Time is the machine's: processes don't live by another clock.
 */
export async function endTree(tree: ProcessTree, options: EndTreeOptions): Promise<EndedTree> {
  const { graceMs, spared } = options;
  const seen = new Set<string>();
  const look = async (): Promise<readonly ProcessRow[]> => {
    const rows = await tree.scan();
    for (const row of rows) seen.add(nameOf(row));
    return rows;
  };

  // Stopped first, or a parent that ends when asked could leave a child that no look has seen.
  let rows = await stopAll(tree, look, performance.now() + stopMs);
  if (rows.length > 0 && graceMs > 0) {
    tree.signal(rows, "SIGTERM", spared);
    // Who is stopped hears it when woken.
    tree.signal(rows, "SIGCONT");
    rows = await waitUntilGone(look, graceMs);
  }

  const until = performance.now() + killMs;
  let calm = rows.length === 0 ? 1 : 0;
  // On a machine that is too busy to look often, a few rounds count more than the time.
  for (let round = 0; calm < 2 && (round < killRounds || performance.now() < until); round += 1) {
    rows = await stopAll(tree, look, until);
    tree.signal(rows, "SIGKILL");
    calm = rows.length === 0 ? calm + 1 : 0;
    if (calm === 0) await sleep(Math.min(2 ** round, 50));
  }
  if (calm < 2) rows = await look();
  return { ended: seen.size - rows.length, survivors: rows.map((row) => row.pid) };
}

type Look = () => Promise<readonly ProcessRow[]>;

async function waitUntilGone(look: Look, graceMs: number): Promise<readonly ProcessRow[]> {
  const until = performance.now() + graceMs;
  for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
    const left = until - performance.now();
    await sleep(Math.max(0, Math.min(pause, left)));
    const rows = await look();
    if (rows.length === 0 || performance.now() >= until) return rows;
  }
}

/**
 * Stops everybody, and then those that were started meanwhile, until nobody is new. A stopped
 * process starts nobody, leaves no group and loses no child, so whom it started is found by it.
 */
async function stopAll(
  tree: ProcessTree,
  look: Look,
  until: number,
): Promise<readonly ProcessRow[]> {
  const stopped = new Set<string>();
  for (let round = 0; ; round += 1) {
    const rows = await look();
    const fresh = rows.filter((row) => !stopped.has(nameOf(row)));
    const late = round === stopRounds || performance.now() >= until;
    if (fresh.length === 0 || late) return rows;
    tree.signal(fresh, "SIGSTOP");
    for (const row of fresh) stopped.add(nameOf(row));
  }
}

/** A pid returns; with its start it is one process. */
function nameOf(row: ProcessRow): string {
  return `${row.pid} ${row.startedAt}`;
}
