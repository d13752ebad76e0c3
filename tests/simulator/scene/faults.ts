/** Carries out the faults of a plan, at their times or at moments of the protocol. */
import type { HttpNetwork } from "../world/http-network.ts";
import { simulation } from "../world/simulation.ts";
import type { Engines } from "./engines.ts";
import type { Nodes } from "./nodes.ts";
import type { Pages } from "./pages.ts";
import { webHosts, workerHosts } from "./plan.ts";
import type { Fault, FaultKind } from "./plan.ts";
import type { SimulatedVendor } from "./vendor.ts";

export interface FaultsOptions {
  readonly engines: Engines;
  readonly nodes: Nodes;
  readonly pages: Pages;
  /** Between pages and web nodes. */
  readonly network: HttpNetwork;
  readonly vendor: SimulatedVendor;
  readonly toVendor: HttpNetwork;
}

/** False: there was nothing to do it to. */
type Inject = (fault: Fault) => unknown;

/** Between two cuts of the vendor's connections. */
const apartMs = 15_000;

export class Faults {
  /** How many were carried out. */
  injected = 0;
  readonly #options: FaultsOptions;
  /** Those that wait for a moment, with how many such lines are still to come. */
  readonly #waiting = new Map<Fault, number>();
  #cutAt = -Infinity;
  /** Hosts that are down until their fault is over. */
  readonly #down = new Set<string>();
  readonly #kinds: Readonly<Record<FaultKind, Inject>>;

  constructor(options: FaultsOptions) {
    this.#options = options;
    const { vendor } = options;
    this.#kinds = {
      ...this.#ofNodes(),
      ...this.#ofPages(),
      ...this.#ofEngines(),
      "vendor cuts": () => this.#cutVendor(),
      "vendor refuses": () => void (vendor.isBusy = true),
    };
    simulation().onLine = (line) => this.#notice(line);
  }

  schedule(fault: Fault): void {
    const { kind, host, ms, on } = fault;
    const { harness } = simulation();
    const begin = (): void => {
      if (on === undefined) this.#inject(fault);
      else this.#waiting.set(fault, on.nth);
    };
    const what = on === undefined ? `${kind} ${host} for ${ms} ms` : `${kind} ${host} waits`;
    simulation().schedule(fault.at, harness, what, begin);
  }

  /** Everything works from now on. */
  healAll(): void {
    const { engines, nodes, network, vendor } = this.#options;
    this.#waiting.clear();
    vendor.isBusy = false;
    nodes.healAll();
    engines.healAll();
    network.faults.blocked.clear();
    network.faults.swallowed.clear();
    network.faults.slowMs = 0;
    simulation().trace("all is healed");
  }

  /** A reply whose every attempt is cut fails its run, which is no breach: cuts are further apart than its attempts. */
  #cutVendor(): boolean {
    const { now } = simulation();
    if (now - this.#cutAt < apartMs) return false;
    this.#cutAt = now;
    for (const connection of this.#options.toVendor.open) connection.reset();
    return true;
  }

  #notice(line: string): void {
    for (const [fault, left] of this.#waiting) {
      if (fault.on === undefined || !line.includes(fault.on.line)) continue;
      this.#waiting.set(fault, left - 1);
      if (left > 1) continue;
      this.#waiting.delete(fault);
      const { kind, host, ms } = fault;
      const what = `${kind} ${host} for ${ms} ms at its moment`;
      simulation().schedule(0, simulation().harness, what, () => this.#inject(fault));
    }
  }

  #inject(fault: Fault): void {
    if (this.#kinds[fault.kind](fault) !== false) this.injected += 1;
  }

  #later({ kind, host, ms }: Fault, heal: () => void): void {
    simulation().schedule(ms, simulation().harness, `${kind} ${host} is over`, heal);
  }

  #ofNodes() {
    const { nodes } = this.#options;
    const restartLater = (fault: Fault): void => {
      this.#down.add(fault.host);
      this.#later(fault, () => {
        this.#down.delete(fault.host);
        if (!nodes.process(fault.host).isAlive) nodes.start(fault.host);
      });
    };
    const isUp = (host: string): boolean => nodes.process(host).isAlive && !this.#down.has(host);
    return {
      crash: (fault) => {
        if (!isUp(fault.host)) return false;
        simulation().kill(nodes.process(fault.host));
        restartLater(fault);
        return true;
      },
      stop: (fault) => {
        if (!isUp(fault.host) || nodes.process(fault.host).isPaused) return false;
        nodes.stop(fault.host);
        restartLater({ ...fault, ms: fault.ms + 5_001 });
        return true;
      },
      pause: (fault) => {
        const process = nodes.process(fault.host);
        if (!process.isAlive || process.isPaused) return false;
        process.isPaused = true;
        this.#later(fault, () => simulation().resume(process));
        return true;
      },
      skew: ({ host, ms }) => {
        nodes.process(host).skewMs = (ms - 20_000) * 180;
      },
    } satisfies Partial<Record<FaultKind, Inject>>;
  }

  #ofPages() {
    const { network, pages } = this.#options;
    return {
      cut: () => {
        for (const connection of network.open) connection.reset();
      },
      block: (fault) => {
        network.faults.blocked.add(fault.host);
        for (const connection of network.carrying(fault.host)) connection.stall();
        this.#later(fault, () => network.faults.blocked.delete(fault.host));
      },
      swallow: ({ host }) => void network.faults.swallowed.set(host, 1),
      slow: (fault) => {
        network.faults.slowMs = fault.ms / 20;
        this.#later(fault, () => (network.faults.slowMs = 0));
      },
      reconnect: ({ host }) => pages.reconnect(host),
    } satisfies Partial<Record<FaultKind, Inject>>;
  }

  #ofEngines() {
    const { engines } = this.#options;
    const change =
      (engine: "store" | "log", begin: () => object, end: () => object): Inject =>
      (fault) => {
        const hosts = fault.host === "all" ? [...webHosts, ...workerHosts] : [fault.host];
        const links = hosts.map((host) => engines.links(host));
        for (const link of links) {
          Object.assign(link[engine], begin());
          // A log that goes away takes its connections with it.
          if (engine === "log" && link.log.isAway) for (const end of link.subscriptions) end();
        }
        this.#later(fault, () => {
          for (const link of links) Object.assign(link[engine], end());
        });
      };
    const away = [() => ({ isAway: true }), () => ({ isAway: false })] as const;
    const loses = [() => ({ loss: 0.2 }), () => ({ loss: 0 })] as const;
    return {
      "store away": change("store", ...away),
      "store cut": change(
        "store",
        () => ({ isCut: true }),
        () => ({ isCut: false }),
      ),
      "store loses": change("store", ...loses),
      "log away": change("log", ...away),
      "log loses": change("log", ...loses),
      "log forgets": () => void this.#forget(),
    } satisfies Partial<Record<FaultKind, Inject>>;
  }

  async #forget(): Promise<void> {
    const { store, log } = this.#options.engines;
    for (const { uid } of await store.list()) log.lose(uid);
  }
}
