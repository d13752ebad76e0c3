import { randomUUID } from "node:crypto";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

import { confinementFor } from "./confinement.ts";
import { endTree } from "./end-tree.ts";
import { createMark, environmentOf, executionVariable } from "./environment.ts";
import type { Environment } from "./environment.ts";
import type { ProcessEnding, ProcessOutcome } from "./process-outcome.ts";
import { ProcessOutput } from "./process-output.ts";
import type { OutputPiece } from "./process-output.ts";
import { ProcessTree } from "./process-tree.ts";
import { startChild } from "./start-child.ts";
import { startWatchdog } from "./watchdog.ts";
import { within } from "./within.ts";

/** How a process is started, what it is given, and what ends it. */
export interface ProcessOptions {
  readonly cwd?: string | undefined;
  /**
   * Variables beside the few that are passed on from our own environment (`PATH`, `HOME`, `LANG`,
   * `TMPDIR` and their like). Nothing else of ours reaches the process, so no key does.
   */
  readonly env?: Environment | undefined;
  /** Written to the standard input, which is closed afterwards. Without it there is none. */
  readonly input?: string | Uint8Array | undefined;
  /** Called with each piece of output as it comes. If it throws, the process is ended and the error thrown on. */
  readonly onOutput?: ((piece: OutputPiece) => void) | undefined;
  /** How long processes may take to end after `SIGTERM`, before `SIGKILL`. Default: 2 s. */
  readonly graceMs?: number | undefined;
  /** How much of each output is kept, half of it from the beginning and half from the end. Default: 512 KiB. */
  readonly limitBytes?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** The key of the tool's execution, by which `endExecution` finds the processes after a crash. Random if absent. */
  readonly execution?: string | undefined;
  /**
   * Runs the process in a PID namespace, which no process in it can leave, in which it sees no process
   * of ours, and which the kernel ends with the process and with ours. Left out: `prefer`, wherever the
   * machine has them. `require`: else fails with `no_pid_namespace`. `off`: never.
   */
  readonly pidNamespace?: "prefer" | "require" | "off" | undefined;
  /** False to do without the small shell that ends the process group if this process dies. */
  readonly watchdog?: boolean | undefined;
  readonly signal: AbortSignal;
}

/**
 * Runs a program and resolves with how it ended, once every process that it started is gone. All
 * processes of tools are started here. There is no shell unless the command names one.
 *
 * By default it runs in a PID namespace of its own: no process that it starts can leave that, whatever
 * it does, and none sees our own process, whose environment holds keys. As root it lacks the
 * capabilities `sys_admin` and `sys_ptrace`, with which it could look outside; as another user it can't
 * become root. A stop sends `SIGTERM`, and `SIGKILL` after the grace or as soon as the program itself has
 * ended; what a program leaves behind when it ends by itself is killed at once. The outcome comes at most
 * some 3 s after the grace on a machine that schedules us, and usually within milliseconds.
 *
 * On a machine without PID namespaces this process emits one warning, and processes that are left
 * get `SIGTERM`, then `SIGKILL`. They are found by group and session, as children of those, and by the
 * execution's mark in their environment. That covers processes that fork, fork twice, call `setsid`, ignore
 * `SIGTERM`, hold the pipes, stop themselves, or start each other again and again. Not found: a process that
 * leaves its session, loses its parent and clears its environment, all between two scans. The first scan
 * comes 25 ms after the start, later ones at growing intervals of up to 2 s. The environment of this
 * process is then in reach, save where it is root's and `setpriv` is there. Not ended: a process of another
 * user, which is reported in `survivors`. On macOS (not tested) marks and sessions can't be read, so a
 * process that leaves its group and loses its parent between two scans is lost. Where the machine's table
 * can't be read, only the group is ended.
 */
export async function runProcess(
  command: readonly string[],
  options: ProcessOptions,
): Promise<ProcessOutcome> {
  const { signal, execution } = options;
  const own = randomUUID();
  const mark = createMark(execution ?? own, own, process.env[executionVariable]);
  const stop = Promise.withResolvers<ProcessEnding>();
  const thrown: unknown[] = [];
  const output = new ProcessOutput(options.limitBytes ?? 524_288, (piece) => {
    try {
      if (thrown.length === 0) options.onOutput?.(piece);
    } catch (error) {
      thrown.push(error);
      stop.resolve({ ended: "aborted" });
    }
  });
  const report = (ending: ProcessEnding, survivors: readonly number[] = []): ProcessOutcome => ({
    ...ending,
    ...output.kept(),
    survivors,
  });

  const confinement = await confinementFor(options.pidNamespace ?? "prefer");
  if (signal.aborted) return report({ ended: "aborted" });
  if (confinement === undefined) {
    const message = "this machine gives us no PID namespace";
    return report({ ended: "failed_to_start", cause: { code: "no_pid_namespace", message } });
  }

  const confined = confinement.namespace;
  const started = startChild(command, {
    confinement,
    cwd: options.cwd,
    env: environmentOf(process.env, options.env ?? {}, mark),
    input: options.input,
  });
  if (!started.started) return report({ ended: "failed_to_start", cause: await started.cause });
  const { child, pid, ending: exited } = started;
  const tree = new ProcessTree({ root: pid, matches: mark.matches });
  const endReading = output.read(child);
  const stopWatchdog = confined || options.watchdog === false ? undefined : startWatchdog(pid);
  const stopScanning = scanRepeatedly(tree);
  const removeListeners = listenForStop(options, stop.resolve);

  const ending = await Promise.race([exited, stop.promise]);
  removeListeners();
  await stopScanning();
  const { survivors } = await endTree(tree, {
    graceMs: options.graceMs ?? 2_000,
    wrapper: confined ? pid : undefined,
  });
  // All processes are gone, so `exit` is about to be emitted; if it isn't, the survivors are known.
  await within(250, exited);
  await endReading();
  await stopWatchdog?.();
  if (thrown.length > 0) throw thrown[0];
  return report(ending, survivors);
}

/** Calls `stop` on the first of abort and time-out. The returned function cancels both. */
function listenForStop(
  { signal, timeoutMs }: ProcessOptions,
  stop: (ending: ProcessEnding) => void,
): () => void {
  const abort = (): void => stop({ ended: "aborted" });
  signal.addEventListener("abort", abort, { once: true });
  // A timer that is longer than this fires at once.
  const longest = 2 ** 31 - 1;
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => stop({ ended: "timed_out" }), Math.min(timeoutMs, longest));
  return () => {
    signal.removeEventListener("abort", abort);
    clearTimeout(timer);
  };
}

/** Scans the tree while it lives, so that a process which leaves it later is known. */
function scanRepeatedly(tree: ProcessTree): () => Promise<void> {
  const over = new AbortController();
  const scan = async (): Promise<void> => {
    for (let pause = 25; !over.signal.aborted; pause = Math.min(pause * 2, 2_000)) {
      await sleep(pause, undefined, { signal: over.signal }).catch(() => undefined);
      if (!over.signal.aborted) await tree.scan();
    }
  };
  const scanning = scan();
  return async () => {
    over.abort();
    await scanning;
  };
}
