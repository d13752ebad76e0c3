/** The store and the log of a deployment, each a process that never dies, and their networks to the others. */
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { MemoryEventLog } from "@millrace/core/memory";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import type { SessionUid } from "@millrace/core";
import { guarded } from "../judge/fence.ts";
import type { Report } from "../judge/report.ts";
import { wholeLink } from "../world/link.ts";
import type { Link } from "../world/link.ts";
import { remote } from "../world/remote.ts";
import { remoteSubscription } from "../world/remote-subscription.ts";
import { SimulatedProcess } from "../world/simulated-process.ts";
import { simulation } from "../world/simulation.ts";
import { randomOf } from "../world/streams.ts";

type SubscribeOptions = NonNullable<Parameters<EventLog["tail"]>[1]>;

/** The networks of one host. They outlive its processes. */
interface HostLinks {
  readonly store: Link;
  readonly log: Link;
  /** Breaks off each subscription. */
  readonly subscriptions: Set<() => void>;
}

export class Engines {
  readonly store: SessionStore;
  readonly log: MemoryEventLog;
  readonly #storeProcess: SimulatedProcess;
  readonly #logProcess: SimulatedProcess;
  readonly #links = new Map<string, HostLinks>();

  constructor(report: Report) {
    const { seed } = simulation();
    this.#storeProcess = new SimulatedProcess("store", 0, seed);
    this.#logProcess = new SimulatedProcess("log", 0, seed);
    this.store = this.#storeProcess.run(() =>
      guarded(memorySessionStore({ encode: true }), report),
    );
    this.log = this.#logProcess.run(() =>
      memoryEventLog({ encode: true, window: { leastMs: 20, mostMs: 200 } }),
    );
  }

  links(host: string): HostLinks {
    const known = this.#links.get(host);
    if (known !== undefined) return known;
    const links = { store: wholeLink(), log: wholeLink(), subscriptions: new Set<() => void>() };
    this.#links.set(host, links);
    return links;
  }

  /** The store and the log as a process sees them. */
  portsOf(process: SimulatedProcess): { readonly store: SessionStore; readonly log: EventLog } {
    return { store: this.#storeOf(process), log: this.#logOf(process) };
  }

  /** All sessions, read by nobody: no message is lost, no time passes. */
  async sessions() {
    const records = await this.store.list();
    return await Promise.all(
      records.map(async (record) => ({ record, facts: await this.store.read(record.uid) })),
    );
  }

  healAll(): void {
    for (const { store, log } of this.#links.values()) {
      Object.assign(store, wholeLink());
      Object.assign(log, wholeLink());
    }
  }

  #storeOf(process: SimulatedProcess): SessionStore {
    const random = randomOf(`${simulation().seed}/store of ${process.name}`);
    const link = this.links(process.host).store;
    const common = { caller: process, server: this.#storeProcess, link, random };
    const { drivers } = this.store;
    return {
      ...remote(this.store, { ...common, name: "store", local: ["now", "drivers"] }),
      ...(drivers && { drivers: remote(drivers, { ...common, name: "index", local: [] }) }),
    };
  }

  #logOf(process: SimulatedProcess): EventLog {
    const random = randomOf(`${simulation().seed}/log of ${process.name}`);
    const { log: link, subscriptions: connections } = this.links(process.host);
    const common = { caller: process, server: this.#logProcess, link, random };
    const subscribe =
      <T>(
        name: string,
        open: (uid: SessionUid, options: SubscribeOptions) => Promise<AsyncIterable<T>>,
      ) =>
      (uid: SessionUid, { signal }: SubscribeOptions = {}) =>
        remoteSubscription((stop) => open(uid, { signal: stop }), {
          ...common,
          name: `log.${name}`,
          connections,
          signal,
        });
    return {
      ...remote(this.log as EventLog, {
        ...common,
        name: "log",
        local: ["tail", "heads", "nudges", "lose", "setKey"],
      }),
      tail: subscribe("tail", this.log.tail),
      heads: subscribe("heads", this.log.heads),
      nudges: subscribe("nudges", this.log.nudges),
    };
  }
}
