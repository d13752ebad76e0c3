import { cpus } from "node:os";

/** The processor time of each part of a deployment under load, in seconds. */
export interface Spent {
  readonly worker: number;
  readonly web: number;
  readonly server: number;
  /** Temporal's PostgreSQL. */
  readonly database: number;
  /** The PostgreSQL of sessions. */
  readonly store: number;
  readonly redis: number;
  /** The test itself: prompts and readers. */
  readonly test: number;
  /** All cores of the machine, with what others do on it. */
  readonly machine: number;
}

/** What was spent between two readings. */
export function since(before: Spent, after: Spent): Spent {
  const left: { -readonly [Name in keyof Spent]: number } = { ...after };
  for (const name of Object.keys(left) as (keyof Spent)[]) left[name] -= before[name];
  return left;
}

/** The parts as shares of one core in one line, the largest first. */
export function sharesOf({ machine, ...parts }: Spent, seconds: number): string {
  const share = (spent: number): string => `${Math.round((100 * spent) / seconds)} %`;
  const sorted = Object.entries(parts).toSorted(([, one], [, other]) => other - one);
  const shown = sorted.map(([name, spent]) => `${name} ${share(spent)}`).join(", ");
  const others = machine - Object.values(parts).reduce((sum, spent) => sum + spent, 0);
  return `${shown}; others on the machine ${share(others)}; of ${cpus().length} cores`;
}

export function testSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

/** Of all processes on all cores since the machine started. */
export function machineSeconds(): number {
  const busyMs = cpus().map(({ times }) => times.user + times.nice + times.sys + times.irq);
  return busyMs.reduce((sum, ms) => sum + ms, 0) / 1_000;
}
