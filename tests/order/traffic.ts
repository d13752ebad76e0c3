import { setImmediate } from "node:timers/promises";
import type { Node } from "./engines.ts";

/** The calls of a reader that are under way, so that one can wait until it is done with everything. */
export class Traffic {
  #open = 0;
  #ended: PromiseWithResolvers<void> | undefined;

  /** The same store and log, with all that a reader calls of them watched. */
  through({ store, log }: Node): Node {
    const { heads, checkpoint } = store;
    return {
      store: {
        ...store,
        ...(heads === undefined ? {} : { heads: (uids) => this.watch(heads(uids)) }),
        ...(checkpoint === undefined ? {} : { checkpoint: (uid) => this.watch(checkpoint(uid)) }),
        key: (uid) => this.watch(store.key(uid)),
        read: (uid, options) => this.watch(store.read(uid, options)),
        head: (uid) => this.watch(store.head(uid)),
        floors: (uid) => this.watch(store.floors(uid)),
      },
      log: { ...log, read: (uid, lane, after) => this.watch(log.read(uid, lane, after)) },
    };
  }

  async watch<T>(call: Promise<T>): Promise<T> {
    this.#open += 1;
    try {
      return await call;
    } finally {
      this.#open -= 1;
      this.#ended?.resolve();
      this.#ended = undefined;
    }
  }

  /** Resolves when no call is under way and nothing that was answered leads to another. */
  async rest(): Promise<void> {
    for (;;) {
      // What follows from an answer at once has happened by then.
      await setImmediate();
      if (this.#open === 0) return;
      this.#ended ??= Promise.withResolvers();
      await this.#ended.promise;
    }
  }
}
