import { connect } from "node:net";
import type { Socket } from "node:net";
import { checkFaults } from "./faults.ts";
import type { CutKind, Direction, Faults } from "./faults.ts";
import { FaultyPipe } from "./faulty-pipe.ts";
import { createRandom } from "./random.ts";

/** Counters of one direction of a connection. */
export interface Traffic {
  /** Bytes forwarded. */
  readonly bytes: number;
  /** The number of writes. */
  readonly writes: number;
  /** Bytes read and not forwarded yet. */
  readonly held: number;
}

/** One connection through a fault proxy. Its numbers are current. */
export interface FaultConnection {
  /** Counts from 1. */
  readonly id: number;
  /** True while either socket is open. */
  readonly open: boolean;
  /** The side that ended it first. `proxy` is a cut. */
  readonly endedBy: "client" | "server" | "proxy" | undefined;
  readonly toServer: Traffic;
  readonly toClient: Traffic;
  /** Sets faults for this connection alone, until those of the proxy change. */
  readonly set: (direction: Direction | "both", faults: Faults) => void;
  readonly cut: (by: CutKind) => void;
}

export interface FaultyConnectionOptions {
  readonly id: number;
  readonly client: Socket;
  readonly target: { readonly host: string; readonly port: number };
  readonly seed: number;
  readonly faults: Readonly<Record<Direction, Faults>>;
}

export class FaultyConnection implements FaultConnection {
  readonly id: number;
  endedBy: FaultConnection["endedBy"];
  /** Resolves when both sockets are closed. */
  readonly gone: Promise<void>;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #pipes: Readonly<Record<Direction, FaultyPipe>>;
  #sockets = 2;

  constructor({ id, client, target, seed, faults }: FaultyConnectionOptions) {
    this.id = id;
    this.#client = client;
    this.#server = connect({ ...target, allowHalfOpen: true, noDelay: true });
    const cut = (by: CutKind): void => this.cut(by);
    this.#pipes = {
      to_server: new FaultyPipe({
        source: client,
        destination: this.#server,
        faults: faults.to_server,
        random: drawsOf(seed, id, "to_server"),
        cut,
      }),
      to_client: new FaultyPipe({
        source: this.#server,
        destination: client,
        faults: faults.to_client,
        random: drawsOf(seed, id, "to_client"),
        cut,
      }),
    };
    this.gone = Promise.all([
      this.#watch(client, "client"),
      this.#watch(this.#server, "server"),
    ]).then(() => undefined);
  }

  /** Starts to forward bytes. */
  start(): void {
    this.#pipes.to_server.open();
    this.#pipes.to_client.open();
  }

  get open(): boolean {
    return this.#sockets > 0;
  }

  get toServer(): Traffic {
    return trafficOf(this.#pipes.to_server);
  }

  get toClient(): Traffic {
    return trafficOf(this.#pipes.to_client);
  }

  set(direction: Direction | "both", faults: Faults): void {
    checkFaults(faults);
    for (const way of waysOf(direction)) this.#pipes[way].set(faults);
  }

  flush(direction: Direction | "both"): void {
    for (const way of waysOf(direction)) this.#pipes[way].flush();
  }

  cut(by: CutKind): void {
    this.endedBy ??= "proxy";
    this.#stop();
    for (const socket of [this.#client, this.#server]) {
      if (by === "fin") socket.end();
      else if (!socket.destroyed) socket.resetAndDestroy();
    }
  }

  /** Drops the connection. */
  destroy(): void {
    this.endedBy ??= "proxy";
    this.#stop();
    this.#client.destroy();
    this.#server.destroy();
  }

  #stop(): void {
    this.#pipes.to_server.stop();
    this.#pipes.to_client.stop();
  }

  #watch(socket: Socket, side: "client" | "server"): Promise<void> {
    socket.once("end", () => (this.endedBy ??= side));
    // `close` reports the error. Without a listener it would end the process.
    socket.on("error", () => (this.endedBy ??= side));
    return new Promise((resolve) => {
      socket.once("close", () => {
        this.#sockets -= 1;
        if (this.#sockets === 0) this.#stop();
        resolve();
      });
    });
  }
}

/**
 * Each direction of each connection draws its own numbers, so that the traffic of one does not
 * change another.
 */
export function drawsOf(seed: number, id: number, direction: Direction): () => number {
  const way = id * 2 + (direction === "to_server" ? 0 : 1);
  return createRandom(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(way, 0x85ebca6b));
}

export function waysOf(direction: Direction | "both"): readonly Direction[] {
  return direction === "both" ? ["to_server", "to_client"] : [direction];
}

function trafficOf(pipe: FaultyPipe): Traffic {
  return { bytes: pipe.delivered, writes: pipe.writes, held: pipe.queued };
}
