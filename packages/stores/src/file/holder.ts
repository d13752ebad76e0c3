import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isJsonObject, parseJsonText } from "@millrace/core/wire";

/** The process that holds a lock, as the lock's file describes it. */
export interface Holder {
  /** Random, new for each acquisition. */
  readonly token: string;
  readonly pid: number;
  /** When the process started, in ticks since boot: a later process with the same pid has another. */
  readonly started?: string;
  /** Which boot of the machine, and which of its process namespaces, the pid is from. */
  readonly boot?: string;
  readonly space?: string;
  readonly machine: string;
}

/**
 * `elsewhere`: on another machine or in another container, where this process can't check. It counts
 * as alive, since two writers are worse than none.
 */
export type Life = "alive" | "dead" | "elsewhere";

/** This process as the holder of a lock. */
export function ownHolder(token: string): Holder {
  const started = processOf(process.pid)?.started;
  const boot = tryRead("/proc/sys/kernel/random/boot_id");
  const space = tryLink("/proc/self/ns/pid");
  return {
    token,
    pid: process.pid,
    ...(started === undefined ? {} : { started }),
    ...(boot === undefined ? {} : { boot }),
    ...(space === undefined ? {} : { space }),
    machine: tryRead("/etc/machine-id") ?? hostname(),
  };
}

/** Parses the text of a lock. Undefined if no store wrote it. */
export function parseHolder(text: string): Holder | undefined {
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { token, pid, started, boot, space, machine } = value;
  const isToken = typeof token === "string" && /^[0-9a-z]{1,32}$/.test(token); // it goes into a path
  if (!isToken || typeof machine !== "string") return undefined;
  if (!Number.isSafeInteger(pid) || (pid as number) <= 0) return undefined;
  return {
    token,
    pid: pid as number,
    ...(typeof started === "string" ? { started } : {}),
    ...(typeof boot === "string" ? { boot } : {}),
    ...(typeof space === "string" ? { space } : {}),
    machine,
  };
}

/** Whether the process that a lock names still runs, as far as `self` can see. */
export function lifeOf(holder: Holder, self: Holder): Life {
  const sameBoot = holder.boot !== undefined && holder.boot === self.boot;
  if (!sameBoot && holder.machine !== self.machine) return "elsewhere";
  if (!sameBoot && holder.boot !== undefined && self.boot !== undefined) return "dead";
  if (holder.space !== self.space) return "elsewhere";
  if (self.started === undefined) return isRunning(holder.pid) ? "alive" : "dead";
  const process = processOf(holder.pid);
  if (process === undefined || process.started !== holder.started) return "dead";
  return /[ZXx]/.test(process.state) ? "dead" : "alive"; // a zombie: killed, and not yet reaped by its parent
}

interface ProcessLine {
  readonly state: string;
  readonly started: string;
}

/** A process's line in /proc. Its name is in parentheses and may itself hold some. */
function processOf(pid: number): ProcessLine | undefined {
  const line = tryRead(`/proc/${pid}/stat`);
  const fields = line?.slice(line.lastIndexOf(")") + 2).split(" ");
  const [state, started] = [fields?.[0], fields?.[19]];
  return state === undefined || started === undefined ? undefined : { state, started };
}

/** For systems without /proc. A pid that was reused counts as running. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it runs as another user
  }
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    return undefined; // not on this system
  }
}

function tryLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // not on this system
  }
}
