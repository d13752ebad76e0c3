import { endTree } from "./end-tree.ts";
import { matchesExecution } from "./environment.ts";
import { ProcessTree } from "./process-tree.ts";

/**
 * Ends what a lost execution left behind, and says how many processes that were. For whoever takes over after
 * a crash: the execution's key is in its durable intent. Processes are found by the mark in their
 * environment, and from there by parent, group and session. Where environments can't be read, as on
 * macOS, nobody is found. Takes at most the grace and 2 s. May be repeated; `executionPids`
 * says whether somebody would not go.
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
