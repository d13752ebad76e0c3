import { execFile } from "node:child_process";

import type { ProcessRow } from "./lineage.ts";
import type { ProcessTable } from "./process-table.ts";

/**
 * The table as `ps` prints it, for machines without `/proc`, such as macOS. It shows neither
 * sessions nor environments, and the start is in seconds, so here an execution's processes are
 * known by parent and group alone.
 */
export const psTable: ProcessTable = {
  read: () =>
    new Promise((resolve) => {
      const columns = "pid=,ppid=,pgid=,stat=,lstart=";
      const options = {
        env: { PATH: "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" },
        maxBuffer: 64 * 1_048_576,
        timeout: 2_000,
      };
      execFile("ps", ["-A", "-o", columns], options, (error, stdout) =>
        resolve(error === null ? parsePs(stdout) : undefined),
      );
    }),
  startedAt: () => undefined,
  // Asking `ps` before each signal would take longer than it takes to give a pid again.
  lives: () => true,
};

/** Reads lines such as `  12     1    12 Ss   Sun Nov 15 10:01:02 2026`. */
export function parsePs(text: string): readonly ProcessRow[] {
  return text.split("\n").flatMap((line) => {
    const fields = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
    if (fields === null) return [];
    const [, pid, parent, group, state = "", start = ""] = fields;
    if (state.startsWith("Z")) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: 0,
        startedAt: Date.parse(`${start} UTC`) || 0,
      },
    ];
  });
}
