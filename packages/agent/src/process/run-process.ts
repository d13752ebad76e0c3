import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

import { endTree } from "./end-tree.ts";
import { createMark, environmentOf, executionVariable } from "./environment.ts";
import type { Environment } from "./environment.ts";
import { pidNamespacePrefix } from "./pid-namespace.ts";
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
   * Runs the process in a PID namespace, which no process in it can leave, and which the kernel ends
   * with its first process and with ours. `prefer`: where the machine has them. `require`: else fails.
   * Inside, a missing program is exit code 127, and a signal that ends the command is 128 + its number.
   */
  readonly pidNamespace?: "prefer" | "require" | undefined;
  /** False to do without the small shell that ends the process group if this process dies. */
  readonly watchdog?: boolean | undefined;
  readonly signal: AbortSignal;
}

/**
 * Runs a program and resolves with how it ended, once every process that it started is gone. All
 * processes of tools are started here. There is no shell unless the command names one.
 *
 * However the program ends, also by itself, the processes it left behind get `SIGTERM`, then `SIGKILL`.
 * They are found by its group and session, as children of those, and by the execution's mark in their
 * environment. That covers processes that fork, fork twice, call `setsid`, ignore `SIGTERM`, hold the
 * pipes, clear their environment, stop themselves, or start each other again and again. Tests show each
 * of these. The outcome comes at most some 3 s after the grace on a machine that schedules us, and
 * usually within milliseconds.
 *
 * Not found without a PID namespace: a process that leaves its session, loses its parent and clears
 * its environment, all between two scans. The first scan comes 25 ms after the start, later ones at
 * growing intervals of up to 2 s. A test shows that the outcome doesn't wait for such a process, and
 * that it ends in a namespace. Not ended: a process of another user, which is reported in `survivors`.
 * On macOS (not tested) marks and sessions can't be read, so a process that leaves its group and loses
 * its parent between two scans is lost. Where the machine's table can't be read, only the group is ended.
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

  const prefix = options.pidNamespace === undefined ? [] : await pidNamespacePrefix();
  if (signal.aborted) return report({ ended: "aborted" });
  if (prefix === undefined && options.pidNamespace === "require") {
    const message = "this machine gives us no PID namespace";
    return report({ ended: "failed_to_start", cause: { code: "no_pid_namespace", message } });
  }

  const confined = prefix !== undefined && prefix.length > 0;
  const started = startChild([...(prefix ?? []), ...command], {
    cwd: options.cwd,
    env: environmentOf(process.env, options.env ?? {}, mark),
    input: options.input,
  });
  if (!started.started) return report({ ended: "failed_to_start", cause: await started.cause });
  const { child, pid } = started;
  const tree = new ProcessTree({ root: pid, matches: mark.matches });
  const exited = exitOf(child);
  const endReading = output.read(child);
  const stopWatchdog = confined || options.watchdog === false ? undefined : startWatchdog(pid);
  const stopScanning = scanRepeatedly(tree);
  const removeListeners = listenForStop(options, stop.resolve);

  const ending = await Promise.race([exited, stop.promise]);
  removeListeners();
  await stopScanning();
  const { survivors } = await endTree(tree, {
    graceMs: options.graceMs ?? 2_000,
    // The end of the wrapper is the end of the namespace, without any grace.
    spared: confined ? pid : undefined,
  });
  // All processes are gone, so `exit` is about to be emitted; if it isn't, the survivors are known.
  await within(250, exited);
  await endReading();
  await stopWatchdog?.();
  if (thrown.length > 0) throw thrown[0];
  return report(ending, survivors);
}

function exitOf(child: ChildProcess): Promise<ProcessEnding> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      // Node gives exactly one of them.
      if (signal === null) resolve({ ended: "exited", code: code ?? 0 });
      else resolve({ ended: "signalled", signal });
    });
  });
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
