/** Plays a plan: a deployment, its people and its faults, in virtual time, and judges what came of it. */
import "./world/replace-globals.ts";
import process from "node:process";
import { accessJudge } from "./judge/access.ts";
import { areFound, isOver, judgeEnd, judgeFound } from "./judge/end.ts";
import { heldIn, judgeIdle } from "./judge/idle.ts";
import { Report } from "./judge/report.ts";
import type { Breach } from "./judge/report.ts";
import { Engines } from "./scene/engines.ts";
import { Faults } from "./scene/faults.ts";
import { WorldLedger } from "./scene/ledger.ts";
import { Nodes } from "./scene/nodes.ts";
import { Pages } from "./scene/pages.ts";
import { sessionsInAll } from "./scene/plan.ts";
import type { Plan } from "./scene/plan.ts";
import { Readers } from "./scene/readers.ts";
import { scheduleStrangers } from "./scene/strangers.ts";
import { simulatedVendor } from "./scene/vendor.ts";
import { HttpNetwork } from "./world/http-network.ts";
import { SimulatedProcess } from "./world/simulated-process.ts";
import { Simulation } from "./world/simulation.ts";
import { randomOf } from "./world/streams.ts";

export interface Verdict {
  readonly breaches: readonly Breach[];
  /** Names the history: equal for equal plans and equal code. */
  readonly digest: string;
  /** The trace, if it is kept. */
  readonly lines: readonly string[] | undefined;
  readonly counts: HistoryCounts;
}

export interface HistoryCounts {
  readonly sessionHours: number;
  readonly runs: number;
  readonly facts: number;
  readonly faults: number;
  readonly effects: number;
  readonly lines: number;
  readonly turns: number;
}

export interface PlayOptions {
  readonly keepsTrace?: boolean | undefined;
}

/**
 * Once the last fault is over, and as long as sessions have work to do: how long nothing may be stored. A page
 * waits so long for a lost request, and gives up a half-open connection after three heartbeats of four seconds.
 */
const restMs = 15_000;

/** The longest pause of a page whose requests were lost, and the time that a connection takes. */
const pauseMs = 12_000;

/** A page looks for a session that is missing after pauses of up to a minute, and waits 15 s for each answer. */
const searchMs = 80_000;

/** The kernel of a web node gives up a half-open connection after two minutes, and sessions are kept for some time. */
const lingerMs = 180_000;

/** How often the end is looked for. */
const lookMs = 1_000;

/** No queue of prompts takes longer than this after the last fault. */
const mostMs = 180_000;

export async function play(plan: Plan, options: PlayOptions = {}): Promise<Verdict> {
  const { keepsTrace = false } = options;
  const { seed, minutes } = plan;
  const world = new Simulation(seed, { keepsTrace });
  const report = new Report();
  using _ = watchStrayErrors(world, report);

  const ledger = new WorldLedger();
  const engines = new Engines(report);
  const vendor = simulatedVendor(new SimulatedProcess("vendor", 0, seed), ledger);
  const toVendor = new HttpNetwork({
    hosts: () => [vendor],
    random: randomOf(`${seed}/to the vendor`),
  });
  const nodes = new Nodes({ engines, ledger, network: toVendor, report });
  const network = new HttpNetwork({ hosts: nodes.web, random: randomOf(`${seed}/to the web`) });
  network.onBytes = accessJudge(plan.actions, report);
  const pages = new Pages({ network, ledger, report });
  const readers = new Readers({ network, ledger, report, promises: pages.promises });
  const faults = new Faults({ engines, nodes, pages, network, vendor, toVendor });
  scheduleStrangers({ network, report, minutes });
  for (const fault of plan.faults) faults.schedule(fault);
  for (const action of plan.actions) (readers.has(action.host) ? readers : pages).schedule(action);

  await world.runUntil(minutes * 60_000);
  faults.healAll();
  const end = { engines, ledger, pages, readers, vendor, network, report };
  const factsOf = async () => (await engines.sessions()).flatMap((session) => session.facts);
  const last = world.now + mostMs;
  let [stored, since] = [0, world.now + pauseMs];
  while (world.now < Math.min(since + restMs, last) && !(await isOver(end))) {
    await world.runUntil(world.now + lookMs);
    const { length } = await factsOf();
    if (length !== stored) [stored, since] = [length, Math.max(since, world.now)];
  }
  await judgeEnd(end);
  const found = world.now + searchMs;
  while (world.now < found && !(await areFound(end))) await world.runUntil(world.now + lookMs);
  await judgeFound(end);

  const facts = await factsOf();
  world.trace(`ends with ${facts.length} facts`);
  pages.closeAll();
  const idle = { engines, nodes, networks: [network, toVendor] };
  const left = world.now + lingerMs;
  while (world.now < left && heldIn(idle).length > 0) await world.runUntil(world.now + lookMs);
  judgeIdle(idle, report);
  const digest = world.digest();
  pages.killAll();
  readers.killAll();
  nodes.killAll();
  return {
    breaches: report.breaches,
    digest,
    lines: world.kept,
    counts: {
      sessionHours: (world.now / 3_600_000) * sessionsInAll,
      runs: facts.filter(({ type }) => type === "run_started").length,
      facts: facts.length,
      faults: faults.injected,
      effects: ledger.effects.length,
      lines: world.lines,
      turns: world.turns,
    },
  };
}

/** Errors that nothing catches end a real process. */
function watchStrayErrors(world: Simulation, report: Report): Disposable {
  const add = (error: unknown): void => {
    const { stack } = error as { readonly stack?: string };
    report.add("no-stray-errors", stack ?? String(error));
  };
  world.onStrayError = add;
  process.on("unhandledRejection", add);
  process.on("uncaughtException", add);
  return {
    [Symbol.dispose]: () => {
      process.off("unhandledRejection", add);
      process.off("uncaughtException", add);
    },
  };
}
