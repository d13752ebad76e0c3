/** The side of the watchdog that lives in the process that starts servers. */
import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Writable } from "node:stream";

/** What the watchdog is to end and remove, should this process be gone. */
export interface Watched {
  /** Removed with all that is in it. Also the name by which the watchdog knows the server. */
  readonly folder: string;
  readonly server?: WatchedServer | undefined;
}

/** A server that runs. */
export interface WatchedServer {
  readonly pid: number;
  readonly started: string;
  /** The signal on which it ends at once and leaves nothing behind. */
  readonly quit: NodeJS.Signals;
}

/** One line to the watchdog. */
export type WatchLine = Watched & { readonly done?: boolean | undefined };

let watchdog: Writable | undefined;

/** Tells the watchdog what there is to end. Said again for the same folder, the last word holds. */
export function watch(line: WatchLine): void {
  watchdog ??= startWatchdog();
  watchdog.write(`${JSON.stringify(line)}\n`);
}

/**
 * One for each process that starts servers. It reads a pipe that ends with us, however we end, also
 * by SIGKILL. A group of its own keeps Ctrl-C from it. It does not keep us running.
 */
function startWatchdog(): Writable {
  const child = spawn(process.execPath, [join(import.meta.dirname, "watchdog.ts")], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: {}, // options for us (coverage, inspector, a test runner's) are not for it
  });
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  // Somebody ended it. What it knew is without a guard; the next line starts another.
  child.stdin.on("error", () => (watchdog = undefined));
  return child.stdin;
}
