import { withKeys } from "@millrace/conformance";
import { emptyState, follow, replay, snapshot } from "@millrace/core/reading";
import type { Fact, SessionId, SessionUid } from "@millrace/core";
import type { Epoch } from "@millrace/core/ports";
import { systemClock } from "@millrace/core/memory";
import { createHub } from "@millrace/server/hub";
import { postgresStore } from "@millrace/stores/postgres";
import type { PostgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { RedisLog } from "@millrace/stores/redis";
import { CheckingViewer } from "./checking-viewer.ts";

/** Where the servers are. */
export interface Engines {
  readonly postgres: string;
  readonly redis: string;
  readonly prefix: string;
}

/** One process's connections to the engines. */
export interface Node extends AsyncDisposable {
  readonly store: PostgresStore;
  readonly log: RedisLog;
}

/** Heads are read so often, for what is not announced. */
export const pollMs = 400;

export function openNode({ postgres, redis, prefix }: Engines): Node {
  const store = postgresStore({ url: postgres });
  const log = withKeys(redisLog({ url: redis, prefix }), store.key);
  return {
    store,
    log,
    [Symbol.asyncDispose]: async () => {
      await log.close();
      await store.close();
    },
  };
}

export interface ViewerGroupOptions {
  readonly engines: Engines;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly wholeText: (lane: number, epoch: Epoch) => string | undefined;
}

/** The viewers of one session, each over connections of its own. */
export class ViewerGroup {
  readonly all: CheckingViewer[] = [];
  readonly #options: ViewerGroupOptions;
  readonly #closing: (() => Promise<void>)[] = [];

  constructor(options: ViewerGroupOptions) {
    this.#options = options;
  }

  /** Adds a viewer by a hub and one by `follow`, and waits until both have joined. */
  async join(name: string): Promise<readonly CheckingViewer[]> {
    const pair = [this.#byHub(`${name}, by a hub,`), this.#byItself(`${name}, by itself,`)];
    this.all.push(...pair);
    await Promise.all(pair.map((viewer) => viewer.joined()));
    return pair;
  }

  /** Waits until all have what the store has, and compares their whole states with it. */
  async converge(facts: readonly Fact[]): Promise<void> {
    const { uid, sessionId } = this.#options;
    const truth = JSON.stringify(snapshot(replay(emptyState(uid, sessionId), facts)));
    await Promise.all(
      this.all.map((viewer) =>
        viewer.until(() => viewer.state.head === facts.length, `has ${facts.length} facts`),
      ),
    );
    for (const { state, faults } of this.all) {
      if (faults.length > 0) throw new Error(faults.join("\n"));
      const seen = JSON.stringify(snapshot(state));
      if (seen !== truth) throw new Error(`a viewer has\n${seen}\nthe store has\n${truth}`);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((viewer) => viewer.leave()));
    await Promise.all(this.#closing.map((close) => close()));
  }

  #byHub(name: string): CheckingViewer {
    const { engines, uid, sessionId, wholeText } = this.#options;
    const node = openNode(engines);
    const { store, log } = node;
    const hub = createHub({ store, log, clock: systemClock, pollMs });
    this.#closing.push(async () => {
      hub[Symbol.dispose]();
      await node[Symbol.asyncDispose]();
    });
    return new CheckingViewer({
      name,
      uid,
      sessionId,
      wholeText,
      watch: (cursor, signal) => hub.watch({ uid, sessionId, cursor, signal }),
    });
  }

  #byItself(name: string): CheckingViewer {
    const { engines, uid, sessionId, wholeText } = this.#options;
    const node = openNode(engines);
    const { store, log } = node;
    this.#closing.push(async () => await node[Symbol.asyncDispose]());
    const ports = { store, log, clock: systemClock, pollMs };
    return new CheckingViewer({
      name,
      uid,
      sessionId,
      wholeText,
      watch: (cursor, signal) => follow({ ...ports, uid, sessionId, cursor, signal }),
    });
  }
}
