/** HTTP between simulated processes: requests and bytes arrive late, in order, or never. */
import type { Random } from "../../kit/random.ts";
import { HttpConnection } from "./http-connection.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { simulation } from "./simulation.ts";

/** A server in a process. */
export interface HttpHost {
  readonly process: SimulatedProcess;
  readonly handle: (request: Request) => Promise<Response>;
}

/** What goes wrong between clients and servers at the moment. */
export interface NetworkFaults {
  /** Nothing of these hosts arrives anywhere, and nothing arrives there. */
  readonly blocked: Set<string>;
  /** How many of the next posts of a host vanish, on their way there or back. */
  readonly swallowed: Map<string, number>;
  slowMs: number;
}

export interface HttpNetworkOptions {
  /** Those that a load balancer would choose from. */
  readonly hosts: () => readonly HttpHost[];
  readonly random: Random;
}

export class HttpNetwork {
  readonly open = new Set<HttpConnection>();
  readonly faults: NetworkFaults = { blocked: new Set(), swallowed: new Map(), slowMs: 0 };
  readonly random: Random;
  readonly hosts: () => readonly HttpHost[];
  /** Called with what is sent to a client. */
  onBytes: (host: string, bytes: Uint8Array) => void = () => undefined;
  requests = 0;
  bytes = 0;

  constructor({ hosts, random }: HttpNetworkOptions) {
    this.hosts = hosts;
    this.random = random;
  }

  /** For the process that calls it. */
  readonly fetch: typeof globalThis.fetch = (input, init) =>
    new Promise((resolve, reject) => {
      this.requests += 1;
      const { process } = simulation();
      const connection = new HttpConnection(this, process, { id: this.requests, resolve, reject });
      const { method = "GET", headers, body, signal } = init ?? {};
      const url = new URL(input instanceof Request ? input.url : input);
      connection.send(url, { method, headers: headers ?? [], body: body ?? null }, signal);
    });

  /** How long a message takes. */
  latency(): number {
    const { random, faults } = this;
    const tail = random.chance(0.01) ? 200 * random.next() : 0;
    return 1 + random.next() * 20 + tail + faults.slowMs * random.next();
  }

  /** Whether the next post of a host vanishes. Counts it. */
  swallows(host: string, method: string): boolean {
    const left = this.faults.swallowed.get(host) ?? 0;
    if (left === 0 || method !== "POST") return false;
    this.faults.swallowed.set(host, left - 1);
    return true;
  }

  /** Open connections of a host that still carry something. */
  carrying(host: string): readonly HttpConnection[] {
    return [...this.open].filter(({ client, isStalled }) => client.host === host && !isStalled);
  }
}
