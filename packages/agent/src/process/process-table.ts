import type { ProcessRow } from "./lineage.ts";

/** The machine's list of living processes: `/proc` on Linux, `ps` elsewhere. */
export interface ProcessTable {
  /**
   * All living processes. Zombies are not among them: they run nothing, and whether they are reaped
   * is their parent's business. `undefined` if the table can't be read.
   */
  readonly read: () => Promise<readonly ProcessRow[] | undefined>;
  /** When the process of this pid started, living or not yet reaped. `undefined` if unknown. */
  readonly startedAt: (pid: number) => number | undefined;
  /** True if the row's process is alive now, and where that can't be read. */
  readonly lives: (row: ProcessRow) => boolean;
}

/**
 * Shares readings of a table between callers. A call during a reading gets the next one, together with
 * all other calls of that time. So a reading always begins after its call, and a hundred executions
 * that end together cost hardly more than one.
 */
export function shareReadings(table: ProcessTable): ProcessTable["read"] {
  let running: Promise<unknown> = Promise.resolve();
  let next: ReturnType<ProcessTable["read"]> | undefined;

  const read = async (): ReturnType<ProcessTable["read"]> => {
    await running;
    next = undefined;
    const reading = table.read();
    running = reading.catch(() => undefined);
    return reading;
  };

  return () => {
    next ??= read();
    return next;
  };
}
