import type { Clock } from "@millrace/core/ports";
import { connectionKey, readTcpTable, repeatsOf } from "./tcp-table.ts";
import type { ConnectionEnds } from "./tcp-table.ts";

/** A connection that can be given up. */
export interface Peer extends ConnectionEnds {
  readonly destroy: () => unknown;
}

export interface LostPeersOptions {
  readonly clock: Clock;
  /** How often the kernel is asked. */
  readonly everyMs: number;
  /** The kernel's list of connections, or undefined if it has none. `readTcpTable` if left out. */
  readonly read?: (() => Promise<string | undefined>) | undefined;
}

/** Bytes that were sent so often without an answer are lost: 6 s on a quick network, half a minute on a slow one. */
const lostAfter = 5;

/**
 * Closes connections whose far end is gone without a word: a phone that left its network, a machine
 * without power. What is written to them stays in the kernel, a few bytes for each heartbeat, so that no
 * write ever fails or waits; the kernel itself gives up after a quarter of an hour, and until then they
 * count as viewers. Node can't shorten that time, but the kernel lists how often it has sent again. A
 * connection is closed at the second look in a row that finds it so. One look costs the reading of a
 * list; it needs no work for connections that are well, and nothing where there is no such list.
 */
export class LostPeers {
  readonly #options: LostPeersOptions;
  readonly #read: () => Promise<string | undefined>;
  readonly #peers = new Set<Peer>();
  #looking = false;
  #stop = new AbortController();
  /** The repeats at the last look, of connections that had any. */
  #before: ReadonlyMap<string, number> = new Map();

  constructor(options: LostPeersOptions) {
    this.#options = options;
    this.#read = options.read ?? readTcpTable;
  }

  /** Watches a connection. The result ends that. */
  watch(peer: Peer): () => void {
    this.#peers.add(peer);
    if (!this.#looking) void this.#look();
    return () => {
      this.#peers.delete(peer);
      if (this.#peers.size === 0) this.#stop.abort();
    };
  }

  async #look(): Promise<void> {
    this.#looking = true;
    const { clock, everyMs } = this.#options;
    const idle = clock.idle ?? clock.sleep; // an open stream keeps the process alive by its socket
    while (this.#peers.size > 0) {
      this.#stop = new AbortController();
      await idle(everyMs, this.#stop.signal);
      if (this.#peers.size === 0) break;
      const table = await this.#read();
      if (table === undefined) return; // stays `looking`: there will be none later
      this.#close(repeatsOf(table));
    }
    this.#looking = false;
  }

  #close(repeats: ReadonlyMap<string, number>): void {
    const before = this.#before;
    this.#before = repeats;
    const isLost = (key: string): boolean => {
      const [then, now] = [before.get(key) ?? Infinity, repeats.get(key) ?? 0];
      return now >= lostAfter && now >= then; // fewer than at the last look: some were acknowledged
    };
    const lost = new Set([...repeats.keys()].filter(isLost));
    if (lost.size === 0) return;
    for (const peer of this.#peers) if (lost.has(connectionKey(peer))) peer.destroy();
  }
}
