import { existsSync } from "node:fs";
import process from "node:process";

import { lineageOf } from "./lineage.ts";
import type { LineageQuery, ProcessRow } from "./lineage.ts";
import { createLinuxTable } from "./linux-table.ts";
import { shareReadings } from "./process-table.ts";
import { psTable } from "./ps-table.ts";

// A hardened container may have no `/proc` at all.
const table = existsSync("/proc/self/stat") ? createLinuxTable() : psTable;
const readTable = shareReadings(table);

export interface ProcessTreeOptions {
  /** The process that the caller started. Absent after a crash, when only the mark is known. */
  readonly root?: number | undefined;
  /** True for the variable's value in processes of the execution. */
  readonly matches: (value: string) => boolean;
}

/**
 * The living processes of an execution, as far as they can be found: by parent, group, session and
 * mark. It remembers every process it found, so one that was seen once is not lost when it leaves its
 * session, its parents die and its environment is replaced.
 */
export class ProcessTree {
  readonly #matches: (value: string) => boolean;
  readonly #root: LineageQuery["root"];
  #known: ReadonlyMap<number, number> = new Map();
  #scannedAt = -Infinity;
  #ownGroup = 0;

  /** To be called as soon as the root is started: until it is reaped, its pid is not reused. */
  constructor({ root, matches }: ProcessTreeOptions) {
    this.#matches = matches;
    this.#root = root === undefined ? undefined : { pid: root, startedAt: table.startedAt(root) };
  }

  /** Finds the living processes. Costs one reading of the machine's table, shared with concurrent scans. */
  async scan(): Promise<readonly ProcessRow[]> {
    const rows = await readTable();
    if (rows === undefined) return this.#group();
    const found = lineageOf(rows, {
      root: this.#root,
      known: this.#known,
      matches: this.#matches,
      self: process.pid,
    });
    this.#scannedAt = performance.now();
    this.#ownGroup = rows.find((row) => row.pid === process.pid)?.group ?? 0;
    this.#known = new Map(found.map((row) => [row.pid, row.startedAt]));
    return found;
  }

  /**
   * Sends a signal to the processes that the last scan found. The next scan shows its effect. Groups
   * are signalled as such, which no fork can escape: every member of a group with one of ours is ours.
   * Members of the spared process's group, which it leads, are signalled one by one, without it.
   */
  signal(rows: readonly ProcessRow[], signal: NodeJS.Signals, spared?: number): void {
    // The kernel reuses a group's number only seconds after its last member is gone.
    const recent = performance.now() - this.#scannedAt < 1_000;
    const groups = new Set(recent ? rows.map((row) => row.group) : []);
    for (const group of [0, 1, this.#ownGroup, spared ?? 0]) groups.delete(group);
    for (const group of groups) kill(-group, signal);
    for (const row of rows) {
      const single = !groups.has(row.group) && row.pid !== spared;
      if (single && (row.pid < 0 || table.lives(row))) kill(row.pid, signal);
    }
  }

  /** The fallback without a table: the root's group as one row, whose negative pid addresses the group. */
  #group(): readonly ProcessRow[] {
    const root = this.#root?.pid;
    if (root === undefined || !kill(-root, 0)) return [];
    return [{ pid: -root, parent: 0, group: 0, session: 0, startedAt: 0 }];
  }
}

/** False if there is no such process or it may not be signalled. The next scan shows what is left. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
