/** The process table of this machine, to end the started processes and no others. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";

/** One process. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** One letter: `T` is stopped, `Z` has ended and its parent has not collected it. */
  readonly state: string;
  /** The start time. An id may be reused; together with this it identifies one process. */
  readonly started: string;
}

/** Every process that has not ended. */
function readProcesses(): readonly ProcessEntry[] {
  const entries = existsSync("/proc/self/stat")
    ? readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readStat(name) : []))
    : readPs();
  return entries.filter(({ state }) => state !== "Z");
}

/** The process with this id, if it has not ended. */
export function findProcess(pid: number): ProcessEntry | undefined {
  return readProcesses().find((entry) => entry.pid === pid);
}

/** The process and all its descendants, itself first. */
export function findTree(pid: number): readonly ProcessEntry[] {
  const all = readProcesses();
  const tree = all.filter((entry) => entry.pid === pid);
  // The list grows during the loop: each entry appends its children.
  for (const { pid: parent } of tree) tree.push(...all.filter((entry) => entry.parent === parent));
  return tree;
}

/** Sends a signal. Returns false if there was no such process. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

/**
 * Kills the process with all its descendants. It is stopped first, so that it starts nothing
 * meanwhile and the ids of its children stay valid. Returns the killed processes: they may take a
 * moment to end.
 */
export function killTree(pid: number): readonly ProcessEntry[] {
  signal(pid, "SIGSTOP");
  const tree = findTree(pid);
  for (const entry of tree.toReversed()) signal(entry.pid, "SIGKILL");
  return tree;
}

/** Linux: see proc_pid_stat(5). The second field, the name in brackets, may contain anything. */
function readStat(name: string): readonly ProcessEntry[] {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${name}/stat`, "utf8");
  } catch {
    return []; // ended since the folder was listed
  }
  const [state = "Z", parent = "0", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return [{ pid: Number(name), parent: Number(parent), state, started: rest[17] ?? "" }];
}

function readPs(): readonly ProcessEntry[] {
  const output = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,lstart="], { encoding: "utf8" });
  return output.split("\n").flatMap((line) => {
    const [pid, parent, state, ...started] = line.trim().split(/\s+/);
    if (pid === undefined || parent === undefined || state === undefined) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        state: state.slice(0, 1),
        started: started.join(" "),
      },
    ];
  });
}
