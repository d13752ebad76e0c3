/** The side of the watchdog in the process that starts servers. */
import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Writable } from "node:stream";

/** What the watchdog ends and removes if this process is gone. */
export interface Watched {
  /** Removed with its contents. Also the key of the server in the watchdog. */
  readonly folder: string;
  readonly server?: WatchedServer | undefined;
}

/** A server that runs. */
export interface WatchedServer {
  readonly pid: number;
  readonly started: string;
  /** The signal that ends it at once without leaving anything behind. */
  readonly quit: NodeJS.Signals;
}

/** One line to the watchdog. */
export type WatchLine = Watched & { readonly done?: boolean | undefined };

let watchdog: Writable | undefined;

/** Sends a line to the watchdog. A later line for the same folder replaces the earlier one. */
export function watch(line: WatchLine): void {
  watchdog ??= startWatchdog();
  watchdog.write(`${JSON.stringify(line)}\n`);
}

/**
 * Starts one watchdog per process. It reads a pipe that ends with this process, even by SIGKILL. A
 * process group of its own protects it from Ctrl-C. It does not keep this process running.
 */
function startWatchdog(): Writable {
  const child = spawn(process.execPath, [join(import.meta.dirname, "watchdog.ts")], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: {}, // options of this process (coverage, inspector, test runner) are not for the watchdog
  });
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  // The watchdog was killed. Its servers are unguarded; the next line starts another.
  child.stdin.on("error", () => (watchdog = undefined));
  return child.stdin;
}
