import type { ProcessStats } from "../kit/deployment/process-stats.ts";
import type { Violation } from "./oracle.ts";

/** What a process held before a history, and after it, at rest and without viewers. */
export interface IdleProcess {
  readonly name: string;
  readonly before: ProcessStats;
  /** Two looks, some time apart. */
  readonly after: readonly [ProcessStats, ProcessStats];
  /** Between the two looks. */
  readonly ms: number;
}

/** The share of a core that a process at rest may use. */
const idleShare = 0.25;

/** What a process may hold more than at its start: the connections to its servers, which it opens when it needs them. */
const moreSockets = 24;
const moreTimers = 24;
const moreHeapBytes = 48 * 2 ** 20;

/** At rest processes neither work nor hold more than their connections to the servers. */
export function judgeResources(processes: readonly IdleProcess[]): readonly Violation[] {
  return processes.flatMap(({ name, before, after: [one, two], ms }) => {
    const found: Violation[] = [];
    const share = (two.cpuMs - one.cpuMs) / ms;
    if (share > idleShare)
      found.push({ kind: "works at rest", what: `${name} uses ${share.toFixed(2)} of a core` });
    const compare = (resource: string, more: number): void => {
      const [was, is] = [before.resources[resource] ?? 0, two.resources[resource] ?? 0];
      if (is > was + more)
        found.push({ kind: "holds more", what: `${name} has ${is} ${resource}, ${was} at first` });
    };
    compare("TCPSocketWrap", moreSockets);
    compare("Timeout", moreTimers);
    if (two.heapBytes > before.heapBytes + moreHeapBytes)
      found.push({
        kind: "heap grew",
        what: `${name}: ${two.heapBytes}, ${before.heapBytes} before`,
      });
    return found;
  });
}
