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
  /** How long processes may take to end after `SIGTERM`, before `SIGKILL`. 2 s unless said otherwise. */
  readonly graceMs?: number | undefined;
  /** How much of each output is kept, half of it from the beginning and half from the end. 512 KiB unless said otherwise. */
  readonly limitBytes?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** The key of the tool's execution, by which `endExecution` finds the processes after a crash. Random if absent. */
  readonly execution?: string | undefined;
  /**
   * Runs the process in a PID namespace, which nobody in it can leave, and which the kernel ends with
   * its first process and with us. `prefer`: where the machine has them. `require`: or not at all.
   * Inside, a missing program is exit code 127, and a signal that ends the command is 128 + its number.
   */
  readonly pidNamespace?: "prefer" | "require" | undefined;
  /** False to do without the small shell that ends the process group if this process dies. */
  readonly watchdog?: boolean | undefined;
  readonly signal: AbortSignal;
}

/**
 * Runs a program and reports how it ended, when nobody that it started lives any more: the one door
 * through which a tool starts a process. There is no shell unless the command names one.
 *
 * However it ends, also by itself, what it left behind is asked to end, then killed. Found are
 * processes in its group and session, their children, and whoever carries the execution's mark in
 * its environment: those that fork, fork twice, call `setsid`, ignore `SIGTERM`, hold the pipes,
 * clear their environment, stop themselves, or start each other again and again. Tests show each of
 * these. The outcome comes some 3 s after the grace at the latest, as far as the machine has a
 * processor for us, and usually within milliseconds.
 *
 * Not found without a PID namespace: a process that leaves its session, loses its parent and clears
 * its environment, all between two looks. They are taken 25 ms after the start, then ever more rarely,
 * up to 2 s apart. A test shows that the outcome doesn't wait for it, and that it ends in a namespace.
 * Not ended: a process of another user, which is reported in `survivors`. On macOS (not tested) marks
 * and sessions can't be read, so whoever leaves its group and loses its parent between two looks is
 * lost. Where the machine's table can't be read at all, only the group is ended.
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
  const hush = output.listen(child);
  const unguard = confined || options.watchdog === false ? undefined : startWatchdog(pid);
  const unwatch = watch(tree);
  const unlisten = listenForStop(options, stop.resolve);

  const ending = await Promise.race([exited, stop.promise]);
  unlisten();
  await unwatch();
  const { survivors } = await endTree(tree, {
    graceMs: options.graceMs ?? 2_000,
    // The end of the wrapper is the end of the namespace, without any grace.
    spared: confined ? pid : undefined,
  });
  // Nobody lives, so the machine is about to say so; if it doesn't, the survivors are known.
  await within(250, exited);
  await hush();
  await unguard?.();
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

/** Settles on the first of abort and timeout. The function that it returns forgets both. */
function listenForStop(
  { signal, timeoutMs }: ProcessOptions,
  stop: (ending: ProcessEnding) => void,
): () => void {
  const abort = (): void => stop({ ended: "aborted" });
  signal.addEventListener("abort", abort, { once: true });
  // Longer than this a timer would fire at once.
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

/** Looks at the tree while it lives, so that whoever leaves it later is known. Ends when told to. */
function watch(tree: ProcessTree): () => Promise<void> {
  const over = new AbortController();
  const look = async (): Promise<void> => {
    for (let pause = 25; !over.signal.aborted; pause = Math.min(pause * 2, 2_000)) {
      await sleep(pause, undefined, { signal: over.signal }).catch(() => undefined);
      if (!over.signal.aborted) await tree.scan();
    }
  };
  const looking = look();
  return async () => {
    over.abort();
    await looking;
  };
}
