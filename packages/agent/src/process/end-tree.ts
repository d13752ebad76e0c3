import { setTimeout as sleep } from "node:timers/promises";

import type { ProcessRow } from "./lineage.ts";
import type { ProcessTree } from "./process-tree.ts";

export interface EndTreeOptions {
  /** How long processes may take to end by themselves after `SIGTERM`. */
  readonly graceMs: number;
  /**
   * The wrapper of a namespace. It and its child, whose end would take the rest with it, get no `SIGTERM`.
   * They stay stopped until all others are gone or killed, so that those have their grace.
   */
  readonly wrapper?: number | undefined;
}

export interface EndedTree {
  /** How many processes were found alive and are gone. */
  readonly ended: number;
  /** The pids of processes that could not be ended: of another user, or stuck in the kernel. */
  readonly survivors: readonly number[];
}

/** How long to try to have every process stopped before `SIGTERM` is sent. */
const stopMs = 500;
/** How long killing may take before the rest is reported as survivors. */
const killMs = 2_000;
/** The least number of rounds after that: with their pauses, half a second in which a killed process can go. */
const killRounds = 16;
/** How many scans look for processes that were started while others were being stopped. */
const stopRounds = 8;

/**
 * Ends all processes of a tree: `SIGSTOP`, `SIGTERM` and `SIGCONT`, the grace, `SIGKILL`, and scans
 * until two in a row find no process. Takes at most the grace and some 2 s, and a few milliseconds if
 * all processes end on `SIGTERM`. Uses the machine's clock, because processes live by no other.
 */
export async function endTree(tree: ProcessTree, options: EndTreeOptions): Promise<EndedTree> {
  const { graceMs, wrapper } = options;
  const seen = new Set<string>();
  const scan = async (): Promise<readonly ProcessRow[]> => {
    const rows = await tree.scan();
    for (const row of rows) seen.add(nameOf(row));
    return rows;
  };
  const inside = (rows: readonly ProcessRow[]): readonly ProcessRow[] =>
    rows.filter(({ pid, parent }) => wrapper === undefined || ![pid, parent].includes(wrapper));

  // Stop first: a parent that ends on `SIGTERM` could otherwise leave a child that no scan has seen.
  let rows = await stopAll(tree, scan, performance.now() + stopMs);
  if (inside(rows).length > 0 && graceMs > 0) {
    tree.signal(inside(rows), "SIGTERM", wrapper);
    // A stopped process receives `SIGTERM` only when it continues.
    tree.signal(inside(rows), "SIGCONT", wrapper);
    rows = await waitUntilGone(async () => inside(await scan()), graceMs);
  }

  const until = performance.now() + killMs;
  let emptyScans = wrapper === undefined && rows.length === 0 ? 1 : 0;
  // On a machine that stood still for the whole time limit, no killed process has had time to go yet.
  for (
    let round = 0;
    emptyScans < 2 && (round < killRounds || performance.now() < until);
    round += 1
  ) {
    rows = await stopAll(tree, scan, until);
    // A wrapper reaps its child and ends by itself. Killed, it would leave that to a stranger.
    const last = performance.now() < until ? wrapper : undefined;
    tree.signal(rows, "SIGKILL", last);
    if (last !== undefined)
      tree.signal(
        rows.filter(({ pid }) => pid === last),
        "SIGCONT",
      );
    emptyScans = rows.length === 0 ? emptyScans + 1 : 0;
    if (emptyScans === 0) await sleep(Math.min(2 ** round, 50));
  }
  if (emptyScans < 2) rows = await scan();
  return { ended: seen.size - rows.length, survivors: rows.map((row) => row.pid) };
}

type Scan = () => Promise<readonly ProcessRow[]>;

async function waitUntilGone(scan: Scan, graceMs: number): Promise<readonly ProcessRow[]> {
  const until = performance.now() + graceMs;
  for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
    const left = until - performance.now();
    await sleep(Math.max(0, Math.min(pause, left)));
    const rows = await scan();
    if (rows.length === 0 || performance.now() >= until) return rows;
  }
}

/**
 * Stops all processes, then those that were started meanwhile, until a scan finds no new one. A
 * stopped process starts no other, leaves no group and loses no child, so its children are found by it.
 */
async function stopAll(
  tree: ProcessTree,
  scan: Scan,
  until: number,
): Promise<readonly ProcessRow[]> {
  const stopped = new Set<string>();
  for (let round = 0; ; round += 1) {
    const rows = await scan();
    const fresh = rows.filter((row) => !stopped.has(nameOf(row)));
    tree.signal(fresh, "SIGSTOP");
    for (const row of fresh) stopped.add(nameOf(row));
    const late = round === stopRounds || performance.now() >= until;
    if (fresh.length === 0 || late) return rows;
  }
}

/** Pids are reused; pid and start time together name one process. */
function nameOf(row: ProcessRow): string {
  return `${row.pid} ${row.startedAt}`;
}
