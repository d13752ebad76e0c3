import { expect, test, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { Random } from "../../../../tests/kit/random.ts";
import { firstSeed as seed, runs } from "../../../../tests/kit/runs.ts";
import type { StreamEndReason } from "@millrace/core/wire";
import { initialMachine, pauseRangeMs, step } from "./machine.ts";
import type { Command, ConnectionEvent, Machine } from "./machine.ts";
import { pauseRange, retryAfterMostMs, retryMostMs, states } from "./states.ts";
import type { StateName, TimerName } from "./states.ts";

vi.setConfig({ testTimeout: patience });

const outside = [
  ...(["watch", "watch", "unwatch", "online", "offline", "freeze", "thaw"] as const),
  ...(["shown", "reconnect", "answered"] as const),
];
const ofConnections = ["opened", "bytes", "bytes", "gap", "failed", "renewed"] as const;
const reasons: readonly (StreamEndReason | undefined)[] = [
  ...(["finished", "drain", "recycled", "slow", "expired"] as const),
  ...(["revoked", "removed", "not_found"] as const),
  undefined,
];
const statuses = [400, 401, 403, 404, 408, 410, 429, 500, 503] as const;
/** The timer that ends each state that must not last. */
const watchdogs: Readonly<Partial<Record<StateName, TimerName>>> = {
  opening: "open_timeout",
  opened: "mute_timeout",
  live: "silence_timeout",
  waiting: "retry_timeout",
  renewing: "renew_timeout",
};

/** Carries out commands as a shell does, and throws where one would break a law. */
class World {
  machine: Machine = initialMachine;
  readonly timers = new Set<TimerName>();
  /** The number of what is held: a connection, or a renewal. */
  held: number | undefined;
  steps = 0;

  take(event: ConnectionEvent, random: number): void {
    this.steps += 1;
    if (this.timers.has(event.type as TimerName)) this.timers.delete(event.type as TimerName);
    const { machine, commands } = step(this.machine, event, random);
    this.machine = machine;
    for (const command of commands) this.#carryOut(command, event, random);
    this.#check();
  }

  #carryOut(command: Command, event: ConnectionEvent, random: number): void {
    switch (command.type) {
      case "connect":
      case "renew":
        if (this.held !== undefined) throw new Error("two at once");
        this.held = command.number;
        break;
      case "disconnect":
        if (this.held === undefined) throw new Error("nothing to end");
        this.held = undefined;
        break;
      case "set_timer":
        if (command.timer === "retry_timeout") this.#checkPause(command.ms, event, random);
        this.timers.add(command.timer);
        break;
      case "clear_timer":
        this.timers.delete(command.timer);
        break;
      default:
        command satisfies never;
    }
  }

  #checkPause(ms: number, event: ConnectionEvent, random: number): void {
    const range = pauseRangeMs(this.machine);
    const asked =
      event.type === "refused" ? Math.min(event.retryAfterMs ?? 0, retryAfterMostMs) : 0;
    const most = Math.max(pauseRange.mostMs, this.machine.retryMs, asked);
    if (!(ms >= 0 && ms <= most) || this.machine.retryMs > retryMostMs)
      throw new Error(`a pause of ${ms}`);
    if (ms !== Math.max(range * random, asked)) throw new Error(`${ms} is not drawn from ${range}`);
  }

  #check(): void {
    const { state, form, number } = this.machine;
    const { holds, timers } = states[state];
    if ((holds === "nothing") !== (this.held === undefined)) throw new Error(`${state} holds`);
    if (this.held !== undefined && this.held !== number) throw new Error("another number");
    const watchdog = watchdogs[state];
    if (watchdog !== undefined && !this.timers.has(watchdog)) throw new Error(`${state} is stuck`);
    for (const timer of this.timers) {
      if (timer === "again_timeout" ? form === "stream" : !timers.includes(timer))
        throw new Error(`${timer} runs in ${state}`);
    }
    if ((form === "json") !== this.timers.has("again_timeout")) throw new Error("no way back");
  }

  /** Goes on with a network and a server that work. Returns the events that it took. */
  recover(): number {
    const { machine } = this;
    if (machine.state === "closed") return 0;
    let count = 0;
    for (const type of ["thaw", "online"] as const) this.take({ type }, 0.5);
    if (!this.machine.wanted) this.take({ type: "watch" }, 0.5);
    if (this.machine.state === "refused") this.take({ type: "reconnect" }, 0.5);
    for (; this.machine.state !== "live"; count += 1) {
      if (count > 4) throw new Error(`stuck in ${this.machine.state}`);
      const { state, number } = this.machine;
      if (state === "waiting") this.take({ type: "retry_timeout" }, 0.5);
      else this.take({ type: state === "renewing" ? "renewed" : "bytes", number }, 0.5);
    }
    return count;
  }
}

function nextEvent(random: Random, { machine, timers }: World): ConnectionEvent {
  const kind = random.next();
  if (kind < 0.3 && timers.size > 0) return { type: random.pick([...timers]) };
  if (kind < 0.5) return { type: random.pick(outside) };
  // Now and then a connection that is over still has something to say.
  const number = machine.number - (random.next() < 0.1 ? 1 : 0);
  if (kind < 0.8) return { type: random.pick(ofConnections), number };
  if (kind < 0.88) return { type: "ended", number, reason: random.pick(reasons) };
  if (kind < 0.93) return { type: "retry", number, ms: random.next() * 60_000 };
  if (kind > 0.997) return { type: "close" };
  const retryAfterMs = random.next() < 0.3 ? random.next() * 600_000 : undefined;
  return { type: "refused", number, status: random.pick(statuses), retryAfterMs };
}

test("random events never open two streams, never leave a state without a way on, and pause within bounds", () => {
  const sequences = runs(10_000, 1_000_000);
  let steps = 0;
  let longest = 0;
  const reached = new Set<string>();
  for (let at = 0; at < sequences; at += 1) {
    const random = new Random(seed + at);
    const world = new World();
    try {
      const length = 5 + Math.floor(random.next() * 40);
      for (let count = 0; count < length; count += 1) {
        world.take(nextEvent(random, world), random.next());
        reached.add(`${world.machine.state} ${world.machine.form}`);
      }
      longest = Math.max(longest, world.recover());
    } catch (error) {
      throw new Error(`SEED=${seed + at}: ${JSON.stringify(world.machine)}`, { cause: error });
    }
    steps += world.steps;
  }

  expect(reached.size).toBeGreaterThanOrEqual(17); // each state in both forms, but for a few
  console.log(
    `count: random event sequences of the connection (seed ${seed}), ${sequences}, ${steps} events, 0 stuck, 0 doubled, back to live in ${longest} events at most`,
  );
});
