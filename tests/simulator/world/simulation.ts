import { createHash } from "node:crypto";
import { EventHeap } from "./event-heap.ts";
import type { ScheduledEvent } from "./event-heap.ts";
import { SimulatedProcess, currentProcess } from "./simulated-process.ts";
import { randomOf } from "./streams.ts";

/** Of the real runtime: one turn of its event loop runs all that promises have made ready. */
const nextTurn = globalThis.setImmediate;

interface ScheduleOptions {
  readonly isTimer?: boolean;
  /** Left out: one of its own, or that of all timers. */
  readonly channel?: string;
}

/** Virtual time. Everything that happens in a history is an event of one process, in one total order. */
export class Simulation {
  readonly seed: string;
  now = 0;
  /** How many events have happened, timers included. */
  turns = 0;
  /** How many of them are in the trace. */
  lines = 0;
  /** The lines of the trace, if they are kept. */
  readonly kept: string[] | undefined;
  /** Called with what code of a process throws, and nothing catches. */
  onStrayError: (error: unknown) => void = () => undefined;
  /** Called with each line, before what it names happens. */
  onLine: (line: string) => void = () => undefined;
  readonly harness: SimulatedProcess;
  readonly #heap = new EventHeap();
  readonly #hash = createHash("sha256");
  #order = 0;

  constructor(seed: string, { keepsTrace = false }: { readonly keepsTrace?: boolean } = {}) {
    this.seed = seed;
    this.kept = keepsTrace ? [] : undefined;
    this.harness = new SimulatedProcess("harness", 0, seed);
    setRunning(this);
  }

  /** The process whose code is running. */
  get process(): SimulatedProcess {
    return currentProcess(this.harness);
  }

  schedule(
    ms: number,
    owner: SimulatedProcess,
    what: string,
    call: () => void,
    { isTimer = false, channel = isTimer ? "timers" : what }: ScheduleOptions = {},
  ): ScheduledEvent {
    const at = this.now + Math.max(0, ms);
    this.#order += 1;
    const event = { at, order: this.#order, owner, what, call, isTimer, channel, isDone: false };
    if (isTimer) owner.timers += 1;
    this.#heap.push(event);
    return event;
  }

  cancel(event: ScheduledEvent): void {
    if (event.isDone) return;
    event.isDone = true;
    if (event.isTimer) event.owner.timers -= 1;
  }

  /** Writes a line of the history. Two runs of a seed have the same lines at the same times. */
  trace(what: string): void {
    this.lines += 1;
    this.onLine(what);
    const line = `${this.now.toFixed(3)} ${what}`;
    this.#hash.update(`${line}\n`);
    this.kept?.push(line);
  }

  /** Names the history so far. */
  digest(): string {
    return this.#hash.copy().digest("hex").slice(0, 16);
  }

  /** Runs all events up to a time. Between two events everything that promises have made ready is done. */
  async runUntil(time: number): Promise<void> {
    for (;;) {
      const first = this.#heap.first;
      if (first === undefined || first.at > time) break;
      const event = this.#heap.pop() ?? first;
      const { owner, channel } = event;
      if (event.isDone || !owner.isAlive) continue;
      const earliest = owner.notBefore.get(channel) ?? 0;
      if (owner.isPaused) owner.kept.push(event);
      else if (earliest > event.at) this.#heap.push(Object.assign(event, { at: earliest }));
      else await this.#happen(event);
    }
    this.now = Math.max(this.now, time);
  }

  /** As SIGKILL. Its connections are reset, and nothing of it happens any more. */
  kill(process: SimulatedProcess): void {
    process.isAlive = false;
    process.kept.length = 0;
    for (const end of process.onKill) end();
    process.onKill.clear();
  }

  /**
   * As SIGCONT. Timers are due at once. What waits in sockets comes in order for each connection, and up to
   * some seconds late for some: the kernel has buffered it, the peer has to send the rest again.
   */
  resume(process: SimulatedProcess): void {
    process.isPaused = false;
    const random = randomOf(`${this.seed}/resume/${process.name}/${this.now}`);
    const due = new Map<string, number>();
    for (const event of process.kept.splice(0)) {
      if (event.isDone) continue;
      const late = random.chance(0.5) ? random.next() * 4_000 : 1;
      event.at = due.get(event.channel) ?? this.now + (event.isTimer ? 0 : late);
      due.set(event.channel, event.at);
      if (!event.isTimer) process.notBefore.set(event.channel, event.at);
      this.#heap.push(event);
    }
  }

  async #happen(event: ScheduledEvent): Promise<void> {
    this.now = Math.max(this.now, event.at);
    event.isDone = true;
    this.turns += 1;
    if (event.isTimer) event.owner.timers -= 1;
    else this.trace(`${event.owner.name} ${event.what}`);
    try {
      event.owner.run(event.call);
    } catch (error) {
      if (event.owner === this.harness) throw error;
      this.onStrayError(error);
    }
    await new Promise<void>((resolve) => nextTurn(resolve));
  }
}

let running: Simulation | undefined;

function setRunning(started: Simulation): void {
  running = started;
}

/** The simulation that is running. There is one at a time in a process of the operating system. */
export function simulation(): Simulation {
  if (running === undefined) throw new Error("no simulation is running");
  return running;
}
