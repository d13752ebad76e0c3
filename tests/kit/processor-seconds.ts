import { readFileSync } from "node:fs";
import { findTree } from "../../scripts/services/process-table.ts";

/** Linux counts processor time for programs in hundredths of a second. */
const ticksPerSecond = 100;

/**
 * The processor time that a process has used, with all its threads and all processes below it, also those
 * that have ended. Of another process: `process.cpuUsage` knows only its own. Linux only.
 */
export function processorSeconds(pid: number): number {
  const ticks = findTree(pid).map((entry) => ticksOf(entry.pid));
  return ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond;
}

/** See proc_pid_stat(5): its own time in both modes, and that of ended children it has collected. */
function ticksOf(pid: number): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return 0; // it ended since it was listed: its parent has its time
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}
