import type { Link } from "./link.ts";

/** One Redis: a connection for commands, and one for subscriptions. */
export interface Shard {
  readonly commands: Link;
  readonly subscriptions: Link;
}

/** Which Redis has which slot. */
export interface Shards {
  /** The shard of a slot, if it is known. A caller that tries it first saves the wait for `find`. */
  readonly known: (slot: number) => Shard | undefined;
  /** Rejects when no node can be reached, or none has the slot. */
  readonly find: (slot: number) => Promise<Shard>;
  /** Called with the error of every failed command: it may mean that the slot has moved. */
  readonly noteFailure: (error: unknown) => void;
  readonly close: () => void;
}

/** One Redis that has all slots. */
export function singleShard(shard: Shard): Shards {
  return {
    known: () => shard,
    find: async () => shard,
    noteFailure: () => undefined,
    close: () => {
      shard.subscriptions.close();
      shard.commands.close();
    },
  };
}
