import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { setImmediate as breathe, setTimeout as sleep } from "node:timers/promises";

import { executionVariable } from "./environment.ts";
import type { ProcessRow } from "./lineage.ts";
import type { ProcessTable } from "./process-table.ts";

/** How many rows are read before other work of this process gets its turn: about 3 ms. */
const sliceSize = 128;
/** How far the newest pid may move during one reading before we stop following it. */
const chaseLimit = 2_048;
/** How long a process that loads a program is looked at again, in milliseconds: it may lack a processor. */
const loadingMs = 100;

/**
 * The table as Linux shows it in `/proc`. The files are read synchronously: one costs 10 to 20
 * microseconds, of which a thread pool would make ten times that. Environments are read once for each
 * process: a mark can be lost with a new program, but not gained.
 */
export function createLinuxTable(): ProcessTable {
  let before: ReadonlyMap<number, ProcessRow> = new Map();

  const read = async (): Promise<readonly ProcessRow[]> => {
    const rows = new Map<number, ProcessRow>();
    const loading = new Set<number>();
    const add = (pid: number): void => {
      rows.delete(pid);
      const stat = readStat(pid);
      if (stat?.living !== true) return;
      const known = before.get(pid);
      const same = known?.startedAt === stat.row.startedAt && known.mark !== "";
      // Read at once: a process may live for a few milliseconds only, and leave a child.
      const mark = same ? known.mark : readMark(pid);
      rows.set(pid, mark === undefined ? stat.row : { ...stat.row, mark });
      // Looked at after the environment: what was loading before that may be loaded by now.
      if (mark === "" && readStat(pid)?.loading === true) loading.add(pid);
    };

    // If pids wrap around during a reading, new processes can't be recognised by their pid.
    for (let round = 0; round < 3 && !(await readOnce(add)); round += 1);
    const until = performance.now() + loadingMs;
    while (loading.size > 0 && performance.now() < until) {
      await sleep(1);
      const pids = [...loading];
      loading.clear();
      for (const pid of pids) add(pid);
    }
    before = rows;
    return [...rows.values()];
  };

  return {
    read: () => read().catch(() => undefined),
    startedAt: (pid) => attempt(() => readStat(pid)?.row.startedAt, undefined),
    lives: (row) =>
      attempt(() => {
        const stat = readStat(row.pid);
        return stat?.living === true && stat.row.startedAt === row.startedAt;
      }, true),
  };
}

/** The result of a reading, or the fallback if it fails at the moment. */
function attempt<T>(ask: () => T, otherwise: T): T {
  try {
    return ask();
  } catch {
    return otherwise;
  }
}

/** Visits all pids, the newest last. False if their numbers began anew meanwhile. */
async function readOnce(add: (pid: number) => void): Promise<boolean> {
  let newest = newestPid();
  const listed = readdirSync("/proc").map(Number).filter(Number.isInteger);
  for (const [index, pid] of listed.entries()) {
    if (index % sliceSize === sliceSize - 1) await breathe();
    add(pid);
  }
  // A process that started after the list was made has a pid between the newest then and now. Without
  // this a process that forks and exits again and again can escape every reading.
  const limit = newest + chaseLimit;
  for (;;) {
    const next = newestPid();
    if (next < newest) return false;
    if (next === newest || next > limit) return true;
    for (let pid = newest + 1; pid <= next; pid += 1) add(pid);
    newest = next;
  }
}

/**
 * The execution's variable in the environment that a process was started with. `undefined` if that
 * may not be read or has none, empty while there is no environment.
 */
function readMark(pid: number): string | undefined {
  const environment = readText(`/proc/${pid}/environ`);
  if (environment === undefined || environment === "") return environment;
  const start = `${executionVariable}=`;
  return environment
    .split("\0")
    .find((entry) => entry.startsWith(start))
    ?.slice(start.length);
}

function readStat(pid: number): Stat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text);
}

interface Stat {
  readonly row: ProcessRow;
  /** False for a process that only waits to be reaped, and for a thread of the kernel. */
  readonly living: boolean;
  /** True while a new program is being loaded: its environment has no place yet. */
  readonly loading: boolean;
}

/** Reads `pid (name) state ppid pgrp session …`. The name may hold anything, brackets included. */
export function parseStat(text: string): Stat | undefined {
  const close = text.lastIndexOf(")");
  const fields = text.slice(close + 2).split(" ");
  if (close < 0 || fields.length < 49) return undefined;
  const [state = "", parent, group, session] = fields;
  // The first thread may have ended before the others: then the state is zombie and the process lives.
  const threads = Number(fields[17]);
  const kernel = (Number(fields[6]) & 0x0020_0000) !== 0;
  const living = !kernel && state !== "X" && (state !== "Z" || threads > 1);
  const row = {
    pid: Number.parseInt(text, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt: Number(fields[19]),
  };
  return { row, living, loading: fields[48] === "0" };
}

/** The pid given last. 0 where the machine hides it; then new pids are not followed. */
function newestPid(): number {
  const text = readText("/proc/loadavg") ?? "";
  return Number(text.trim().split(" ").at(-1)) || 0;
}

/** Shared: one file is read before the next. Files of `/proc` have no size to go by. */
let buffer = Buffer.alloc(16_384);

/**
 * `undefined` if the process is gone, or its user's files may not be read. Throws for anything else,
 * such as too many open files: that must not pass for a process that is gone.
 */
function readText(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    let length = 0;
    for (;;) {
      const count = readSync(file, buffer, length, buffer.length - length, null);
      length += count;
      if (count === 0) return buffer.toString("latin1", 0, length);
      if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES" || code === "EPERM")
      return undefined;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
