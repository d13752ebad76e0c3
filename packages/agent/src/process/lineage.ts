/** One living process, as the machine's table shows it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 where the table doesn't show it. */
  readonly session: number;
  /** When it started, in the table's own unit. With the pid it names a process for good: pids return. */
  readonly startedAt: number;
  /** The value of the execution's variable, where it can be read. Empty if there is no environment. */
  readonly mark?: string | undefined;
}

/** By what the processes of an execution are recognised in one reading of the table. */
export interface LineageQuery {
  /** The process that we started. Absent when only the mark is known. */
  readonly root: { readonly pid: number; readonly startedAt: number | undefined } | undefined;
  /** Those found by earlier readings, as pid and start. */
  readonly known: ReadonlyMap<number, number>;
  /** True for the marks of the execution. */
  readonly matches: (mark: string) => boolean;
  /** Never part of it: ourselves. */
  readonly self: number;
}

/**
 * The processes of an execution: those known or marked, and from there every process that is a child
 * of one, or shares its group or session. A process that we start leads a session of its own, and no
 * process can enter a session from outside, so all of its members descend from ours. Linear in the rows.
 */
export function lineageOf(rows: readonly ProcessRow[], query: LineageQuery): readonly ProcessRow[] {
  const { root, known, matches, self } = query;
  const spared = spare(rows, self);
  // No process is older than its ancestor.
  const young = rows.filter(
    (row) => !spared.pids.has(row.pid) && row.startedAt >= (root?.startedAt ?? -Infinity),
  );
  const byParent = Map.groupBy(young, (row) => row.parent);
  const byGroup = Map.groupBy(young, (row) => row.group);
  const bySession = Map.groupBy(young, (row) => row.session);

  const found = new Set(
    young.filter(
      (row) =>
        known.get(row.pid) === row.startedAt || (row.mark !== undefined && matches(row.mark)),
    ),
  );
  // The kernel does not reuse a group's number while the group has members. So if a process that is
  // not ours has the number as its pid, our group is gone and the number belongs to another.
  const reused =
    root?.startedAt !== undefined &&
    rows.some((row) => row.pid === root.pid && row.startedAt !== root.startedAt);
  if (root !== undefined && !reused) {
    for (const row of byGroup.get(root.pid) ?? []) found.add(row);
    for (const row of bySession.get(root.pid) ?? []) found.add(row);
  }
  // Iterating a set also visits entries added meanwhile, so this ends when no new process is found.
  for (const row of found) {
    for (const child of byParent.get(row.pid) ?? []) found.add(child);
    if (row.group > 1 && row.group !== spared.group) {
      for (const peer of byGroup.get(row.group) ?? []) found.add(peer);
      byGroup.delete(row.group);
    }
    if (row.session > 1 && row.session !== spared.session) {
      for (const peer of bySession.get(row.session) ?? []) found.add(peer);
      bySession.delete(row.session);
    }
  }
  return [...found];
}

/** This process and its ancestors, which carry the mark too when this is a tool's process. */
function spare(
  rows: readonly ProcessRow[],
  self: number,
): { readonly pids: ReadonlySet<number>; readonly group: number; readonly session: number } {
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const pids = new Set([0, 1, self]);
  const own = byPid.get(self);
  for (let row = own; row !== undefined && !pids.has(row.parent); row = byPid.get(row.parent)) {
    pids.add(row.parent);
  }
  return { pids, group: own?.group ?? 0, session: own?.session ?? 0 };
}
