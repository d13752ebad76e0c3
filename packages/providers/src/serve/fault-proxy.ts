import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { checkFaults } from "./faults.ts";
import type { CutKind, Direction, Faults } from "./faults.ts";
import { FaultyConnection, waysOf } from "./faulty-connection.ts";
import type { FaultConnection } from "./faulty-connection.ts";

/** Where a fault proxy listens, what is behind it, and the faults that it begins with. */
export interface FaultProxyOptions {
  readonly target: { readonly host: string; readonly port: number };
  /** Default: 0, which takes any free port. */
  readonly port?: number | undefined;
  /** For jitter and random slices. The same seed draws the same numbers for each connection. */
  readonly seed?: number | undefined;
  /** Faults from the first byte on. */
  readonly toServer?: Faults | undefined;
  readonly toClient?: Faults | undefined;
  /** Called for each new connection before any byte moves, to set faults for that connection. */
  readonly onConnection?: ((connection: FaultConnection) => void) | undefined;
}

/** A TCP proxy whose faults can be changed while it runs. It parses no protocol. */
export interface FaultProxy extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Replaces the faults of one direction or both, for open and future connections. */
  readonly set: (direction: Direction | "both", faults: Faults) => void;
  /** Removes all faults and releases held bytes. */
  readonly clear: () => void;
  /** Releases the bytes that `buffer` holds. */
  readonly flush: (direction?: Direction | "both") => void;
  /** Ends all open connections at once, and drops bytes in transit. */
  readonly cutAll: (by: CutKind) => void;
  /** Refuses or accepts new connections. Open ones are not affected. */
  readonly refuse: (refused: boolean) => Promise<void>;
  /** All connections since the start, in order, including closed ones. */
  readonly connections: () => readonly FaultConnection[];
  /** Drops all connections. Resolves when no socket and no timer is left. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a proxy on this machine that forwards bytes to a target and injects faults.
 *
 * ```ts
 * await using proxy = await startFaultProxy({
 *   target: { host: "127.0.0.1", port: 6379 },
 *   toClient: { slice: { bytes: 1 } },
 * });
 * proxy.set("to_client", { cut: { at: 1000, by: "rst" } });
 * proxy.set("both", { freeze: { at: 0 } }); // half-open: neither end sees a close
 * proxy.clear();
 * ```
 *
 * Bytes before a cut are handed to the operating system before it. A receiver that has read all
 * input gets all of them; a reset may discard bytes that a slow receiver has not read.
 */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new Proxying(options);
  await proxy.listen(options.port ?? 0);
  const close = (): Promise<void> => proxy.close();
  return {
    host,
    port: proxy.port,
    set: (direction, faults) => proxy.set(direction, faults),
    clear: () => proxy.set("both", {}),
    flush: (direction = "both") => proxy.flush(direction),
    cutAll: (by) => proxy.cutAll(by),
    refuse: (refused) => proxy.refuse(refused),
    connections: () => proxy.connections.slice(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const host = "127.0.0.1";

class Proxying {
  readonly connections: FaultyConnection[] = [];
  port = 0;
  readonly #options: FaultProxyOptions;
  readonly #faults: Record<Direction, Faults>;
  #listener: Server | undefined;
  #closed = false;

  constructor(options: FaultProxyOptions) {
    this.#options = options;
    this.#faults = {
      to_server: checkFaults(options.toServer ?? {}),
      to_client: checkFaults(options.toClient ?? {}),
    };
  }

  async listen(port: number): Promise<void> {
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      this.#admit(client);
    });
    this.#listener = listener;
    await new Promise<void>((resolve, reject) => {
      listener.once("error", reject);
      listener.listen(port, host, resolve);
    });
    this.port = (listener.address() as AddressInfo).port;
  }

  set(direction: Direction | "both", faults: Faults): void {
    checkFaults(faults);
    for (const way of waysOf(direction)) this.#faults[way] = faults;
    for (const connection of this.#open()) connection.set(direction, faults);
  }

  flush(direction: Direction | "both"): void {
    for (const connection of this.#open()) connection.flush(direction);
  }

  cutAll(by: CutKind): void {
    for (const connection of this.#open()) connection.cut(by);
  }

  async refuse(refused: boolean): Promise<void> {
    // The port is free at once. The promise waits for open connections, so it is not awaited.
    if (refused) void this.#stopListening();
    else if (this.#listener === undefined && !this.#closed) await this.listen(this.port);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const stopped = this.#stopListening();
    for (const connection of this.#open()) connection.destroy();
    await Promise.all([stopped, ...this.connections.map(({ gone }) => gone)]);
  }

  #open(): readonly FaultyConnection[] {
    return this.connections.filter(({ open }) => open);
  }

  #stopListening(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    return new Promise((resolve) => {
      if (listener === undefined) resolve();
      else listener.close(() => resolve());
    });
  }

  #admit(client: Socket): void {
    const { target, seed = 0, onConnection } = this.#options;
    const connection = new FaultyConnection({
      id: this.connections.length + 1,
      client,
      target,
      seed,
      faults: this.#faults,
    });
    this.connections.push(connection);
    onConnection?.(connection);
    connection.start();
  }
}
