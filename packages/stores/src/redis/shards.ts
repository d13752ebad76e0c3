import type { Link } from "./link.ts";

/** One Redis: a connection for commands, and one for subscriptions. */
export interface Shard {
  readonly commands: Link;
  readonly subscriptions: Link;
}

/** Which Redis has which slot. */
export interface Shards {
  /** The shard of a slot, if it is known. Asking for it first saves the wait for `find`. */
  readonly known: (slot: number) => Shard | undefined;
  /** Rejects when no Redis can say. */
  readonly find: (slot: number) => Promise<Shard>;
  /** Takes note of what a Redis refused: it may say that the slot is elsewhere by now. */
  readonly heed: (error: unknown) => void;
  readonly close: () => void;
}

/** One Redis that has all slots. */
export function singleShard(shard: Shard): Shards {
  return {
    known: () => shard,
    find: async () => shard,
    heed: () => undefined,
    close: () => {
      shard.subscriptions.close();
      shard.commands.close();
    },
  };
}
