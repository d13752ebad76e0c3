import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { follow } from "@millrace/core/reading";
import type { SessionId, View } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { systemClock } from "@millrace/core/memory";
import { createHub } from "@millrace/server/hub";
import { redisLog } from "@millrace/stores/redis";
import { startRedis } from "../../../scripts/services/redis.ts";
import type { Server } from "../../../scripts/services/server.ts";
import { Gate } from "./gate.ts";
import { Random } from "../../kit/random.ts";
import { Conversation } from "./conversation.ts";
import { Viewer } from "./viewer.ts";
import type { Node } from "./viewer.ts";

/** The time limit for convergence. The test sets it. */
const limitMs = 60_000;

export interface CellOptions {
  readonly name: string;
  readonly seed: number;
  /** Of the agents. */
  readonly store: SessionStore;
  /** Of the viewers' nodes. */
  readonly otherStore: SessionStore;
  /** Sessions at a time. */
  readonly sessions: number;
  /** How long a Redis may be silent. */
  readonly timeoutMs: number;
}

/** What a cell has seen. Times are milliseconds. */
export interface CellTally {
  /**
   * Milliseconds from the end of each fault until a viewer showed all that its agent had written,
   * one for each viewer.
   */
  readonly afterFaults: number[];
  /** From a session's last answer until a viewer showed what is stored. */
  readonly afterEnds: number[];
  readonly sessions: SessionId[];
  facts: number;
  joins: number;
}

interface Watched {
  readonly conversation: Conversation;
  readonly viewers: readonly Viewer[];
}

/**
 * One Redis with the agents that write to it and the nodes that read from it, each with connections
 * of its own, under load: sessions are opened, talked in and left all the time.
 */
export class Cell implements AsyncDisposable {
  readonly tally: CellTally = { afterFaults: [], afterEnds: [], sessions: [], facts: 0, joins: 0 };
  readonly server: Server;
  readonly random: Random;
  readonly #options: CellOptions;
  readonly #resources: AsyncDisposableStack;
  readonly #gate = new Gate();
  readonly #nodes: readonly Node[];
  readonly #live = new Set<Watched>();
  readonly #stop = new AbortController();
  readonly #failed = Promise.withResolvers<never>();
  readonly #talking: Promise<unknown>;

  private constructor(options: CellOptions, server: Server, resources: AsyncDisposableStack) {
    const { store, seed, sessions, timeoutMs } = options;
    this.server = server;
    this.random = new Random(seed);
    this.#options = options;
    this.#resources = resources;
    this.#nodes = this.#openNodes();
    const log = resources.use(redisLog({ url: server.url, timeoutMs }));
    const slots = Array.from({ length: sessions }, async (_, slot) => {
      for (let turn = 0; !this.#stop.signal.aborted; turn += 1) {
        const id = `${options.name}_${slot}_${turn}`;
        const random = new Random(seed * 1_000_003 + slot * 10_007 + turn);
        const { signal } = this.#stop;
        const conversation = await Conversation.open({
          id,
          store,
          log,
          gate: this.#gate,
          random,
          signal,
        });
        if (conversation !== undefined) await this.#attend(conversation, random);
      }
    });
    this.#failed.promise.catch(() => undefined); // its waiters get the error
    this.#talking = Promise.all(slots).catch((error: unknown) => this.#failed.reject(error));
  }

  static async open(options: CellOptions): Promise<Cell> {
    const resources = new AsyncDisposableStack();
    const server = resources.use(await startRedis());
    return new Cell(options, server, resources);
  }

  /** Lets a fault happen in the middle of it all, then waits until every viewer shows everything. */
  async suffer(name: string, fault: (server: Server) => Promise<unknown>): Promise<void> {
    const { random } = this;
    // At least one conversation is running.
    const begun = performance.now();
    await this.#unlessFailed(
      until(
        begun,
        () => [...this.#live].some(isSeen),
        () => "nobody watches",
      ),
    );
    await this.#unlessFailed(sleep(random.below(150)));
    await this.#unlessFailed(fault(this.server));
    const end = performance.now();
    if (random.below(2) === 0) await this.#unlessFailed(sleep(random.below(200)));
    const watched = [...this.#live];
    for (const { viewers } of watched) this.#shuffle(viewers);
    // The compared content does not change. A viewer that missed something gets no later message
    // that would reveal it.
    this.#gate.close();
    try {
      await this.#unlessFailed(
        Promise.all(watched.map((one) => this.#converge(one, `after it ${name}`, end))),
      );
    } finally {
      this.#gate.open();
    }
  }

  /** No new sessions, and the ends of those that are open. */
  async finish(): Promise<void> {
    this.#stop.abort();
    await this.#unlessFailed(this.#talking);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#gate.open();
    for (const { viewers, conversation } of this.#live) {
      await Promise.all(viewers.map((viewer) => viewer[Symbol.asyncDispose]()));
      await conversation.session.close();
    }
    await this.#resources.disposeAsync();
  }

  /** Two hubs, as on two servers, and a reader without one. */
  #openNodes(): readonly Node[] {
    const { otherStore: store, timeoutMs } = this.#options;
    const { url } = this.server;
    const hubs = ["first hub", "second hub"].map((name): Node => {
      const log = this.#resources.use(redisLog({ url, timeoutMs }));
      const hub = this.#resources.use(createHub({ store, log, clock: systemClock, pollMs }));
      return { name, watch: hub.watch };
    });
    const log = this.#resources.use(redisLog({ url, timeoutMs }));
    const watch: Node["watch"] = (place) =>
      follow({ ...place, store, log, clock: systemClock, pollMs });
    return [...hubs, { name: "follow", watch }];
  }

  /** A conversation with its audience, to its end. */
  async #attend(conversation: Conversation, random: Random): Promise<void> {
    const { tally } = this;
    tally.sessions.push(conversation.record.sessionId);
    const nodes = [...this.#nodes, random.pick(this.#nodes)];
    const viewers = nodes.map((node) => new Viewer(conversation.record, node));
    const watched = { conversation, viewers };
    this.#live.add(watched);
    await conversation.speak();
    const end = performance.now();
    const stored = await conversation.stored(this.#options.otherStore);
    await Promise.all(
      viewers.map(async (viewer) => {
        await until(
          end,
          () => isShown(viewer.view, stored),
          () => differ(viewer, stored),
        );
        tally.afterEnds.push(performance.now() - end);
      }),
    );
    await this.#check(watched);
    conversation.over = true;
    this.#live.delete(watched);
    tally.facts += conversation.reported.size;
    for (const viewer of viewers) tally.joins += viewer.joins;
    await Promise.all(viewers.map((viewer) => viewer[Symbol.asyncDispose]()));
    await conversation.session.close();
  }

  /** One of the viewers moves to another node, or reconnects without a cursor. */
  #shuffle(viewers: readonly Viewer[]): void {
    const { random } = this;
    if (random.below(2) === 0) return;
    const keeps = random.pick(["cursor", "nothing"] as const);
    random.pick(viewers).move(random.pick(this.#nodes), keeps);
  }

  async #converge({ conversation, viewers }: Watched, when: string, start: number): Promise<void> {
    await Promise.all(
      viewers.map(async (viewer) => {
        const isSame = (): boolean =>
          conversation.over ||
          (viewer.state.head === conversation.reported.size &&
            isShown(viewer.view, conversation.view()));
        await until(start, isSame, () => `${when}: ${differ(viewer, conversation.view())}`);
        this.tally.afterFaults.push(performance.now() - start);
      }),
    );
    await this.#check({ conversation, viewers });
  }

  async #check({ conversation, viewers }: Watched): Promise<void> {
    const wrong = await conversation.compare(this.#options.otherStore);
    if (wrong !== undefined) throw new Error(wrong);
    const misfit = viewers.find(({ misfits }) => misfits > 0);
    if (misfit !== undefined) throw new Error(`the ${misfit.node} sent what does not fit`);
  }

  #unlessFailed<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#failed.promise]);
  }
}

/** Whether a session is running, and all of its viewers have received something. */
function isSeen({ conversation, viewers }: Watched): boolean {
  return conversation.session.status === "running" && viewers.every(({ state }) => state.head > 0);
}

/** A lost announcement is noticed in this time. */
const pollMs = 2_000;

async function until(start: number, isSo: () => boolean, why: () => string): Promise<void> {
  while (!isSo()) {
    if (performance.now() - start > limitMs) throw new Error(`not within ${limitMs} ms: ${why()}`);
    await sleep(15);
  }
}

/** All of it is the same. The last item, where most differ, is compared first: this is done often. */
function isShown(shown: View, expected: View): boolean {
  if (!isDeepStrictEqual(shown.items.at(-1), expected.items.at(-1))) return false;
  return isDeepStrictEqual(shown, expected);
}

function differ(viewer: Viewer, expected: unknown): string {
  const shown = JSON.stringify(viewer.view);
  const { joins, broken, misfits, state } = viewer;
  const { head, lanes } = state;
  const seen = lanes.map(({ lane, epoch, seq }) => `${lane}:${epoch}-${seq}`).join(" ");
  return `the viewer by ${viewer.node} (${joins} joins, ${misfits} misfits, the last broke by ${String(broken)}; head ${head}, lanes ${seen}) shows\n${shown}\nand not\n${JSON.stringify(expected)}`;
}
