import { endTree } from "./end-tree.ts";
import { matchesExecution } from "./environment.ts";
import { ProcessTree } from "./process-tree.ts";

/**
 * Ends the processes that a lost execution left behind and returns how many there were. A driver calls
 * it when it takes over after a crash: the execution's key is in its durable intent. Processes are
 * found by the mark in their environment, and from there by parent, group and session. Where
 * environments can't be read, as on macOS, none is found. Takes at most the grace and 2 s. Safe to
 * repeat; `executionPids` lists the processes that survived.
 */
export async function endExecution(
  execution: string,
  options: { readonly graceMs?: number | undefined } = {},
): Promise<number> {
  const tree = new ProcessTree({ matches: matchesExecution(execution) });
  const { ended } = await endTree(tree, { graceMs: options.graceMs ?? 2_000 });
  return ended;
}

/** The living processes of an execution, in this process or a lost one. Linux only: elsewhere none. */
export async function executionPids(execution: string): Promise<readonly number[]> {
  const tree = new ProcessTree({ matches: matchesExecution(execution) });
  const rows = await tree.scan();
  return rows.map((row) => row.pid);
}
