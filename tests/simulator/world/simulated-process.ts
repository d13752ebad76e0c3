import { AsyncLocalStorage } from "node:async_hooks";
import type { Random } from "../../kit/random.ts";
import type { ScheduledEvent } from "./event-heap.ts";
import { randomOf } from "./streams.ts";

const current = new AsyncLocalStorage<SimulatedProcess>();

/** One simulated process of an operating system. What it owns ends with it: timers, connections, calls under way. */
export class SimulatedProcess {
  /** Such as `worker0.2`: the second life of `worker0`. */
  readonly name: string;
  readonly host: string;
  readonly random: Random;
  isAlive = true;
  /** As after SIGSTOP: its events are kept. */
  isPaused = false;
  readonly kept: ScheduledEvent[] = [];
  /** When what comes next on a channel may happen, at the earliest. Set where a pause has delayed what came before. */
  readonly notBefore = new Map<string, number>();
  /** How far its wall clock is off. */
  skewMs = 0;
  /** Timers that are set. */
  timers = 0;
  /** Called when it is killed: connections are reset by it. */
  readonly onKill = new Set<() => void>();

  constructor(host: string, life: number, seed: string) {
    this.host = host;
    this.name = `${host}.${life}`;
    this.random = randomOf(`${seed}/${this.name}`);
  }

  /** Whatever the call begins, also later, belongs to this process. */
  run<T>(call: () => T): T {
    return current.run(this, call);
  }
}

/** Whose code is running. Code of no process belongs to the harness. */
export function currentProcess(harness: SimulatedProcess): SimulatedProcess {
  return current.getStore() ?? harness;
}
