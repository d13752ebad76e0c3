import { emptyState, follow, replay, snapshot } from "@millrace/core/reading";
import fc from "fast-check";
import { expect, it } from "vitest";
import { watchAsBytes } from "../testing/watch-as-bytes.ts";
import { createClient } from "../testing/client.ts";
import type { Client, Watched } from "../testing/client.ts";
import { laneText } from "../testing/lane-text.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { name, SessionFixture } from "../testing/session-fixture.ts";
import type { ReplyWriter } from "../testing/session-fixture.ts";
import { createHub } from "./hub.ts";
import type { Hub } from "./hub.ts";

/** The steps of a history. One that is listed more often is drawn more often. */
const kinds = [
  "write",
  "write",
  "write",
  "write",
  "write",
  "write",
  "commit",
  "again",
  "input",
  "input",
  "reset",
  "claim",
  "drop",
  "receive",
  "receive",
  "lose",
  "break",
  "log_away",
  "log_back",
  "store_away",
  "store_back",
  "stop",
  "go",
  "move",
  "wait",
] as const;
const lanes = 3;

/** A viewer that watches, stops reading, leaves and reconnects with its state and cursor. */
class Watcher {
  readonly #hub: Watched;
  readonly #session: SessionFixture;
  #gate: PromiseWithResolvers<void> | undefined;
  client: Client;
  joins = 1;
  /** Messages that earlier connections brought and that changed nothing. */
  repeated = 0;

  constructor(hub: Watched, session: SessionFixture) {
    this.#hub = hub;
    this.#session = session;
    this.client = this.#connect();
  }

  stop(): void {
    this.#gate ??= Promise.withResolvers();
  }

  go(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  async comeBack(): Promise<void> {
    this.go();
    const { client } = this;
    await client.leave();
    expect(client.ended()).toBe("ended");
    this.repeated += client.repeated();
    this.joins += 1;
    this.client = this.#connect(client);
  }

  #connect(last?: Client): Client {
    const client: Client = createClient(this.#hub, this.#session, {
      state: last?.state(),
      cursor: last?.cursor(),
      pace: async () => {
        for (const { lane, epoch } of client.state().lanes) {
          const shown = laneText(client.state(), lane) ?? "";
          const written = this.#session.texts.get(epoch) ?? "";
          if (!written.startsWith(shown)) throw new TypeError(`${shown} of ${written}`);
        }
        await this.#gate?.promise;
      },
    });
    return client;
  }
}

/** Performs the steps of one history on a session that four viewers watch. */
class History {
  readonly #session: SessionFixture;
  readonly #writers = new Map<number, ReplyWriter>();
  readonly watchers: readonly Watcher[];
  readonly #ownReaders: boolean;
  #words = 0;

  /** `ownReaders`: each viewer reads the session for itself, not through the hub. */
  constructor(session: SessionFixture, hub: Watched, ownReaders: boolean) {
    this.#session = session;
    this.#ownReaders = ownReaders;
    this.watchers = [1, 2, 3, 4].map(() => new Watcher(hub, session));
  }

  async perform(random: number): Promise<void> {
    const kind = kinds[random % kinds.length] ?? "write";
    const which = Math.floor(random / kinds.length) % (lanes * 4 * 8);
    const lane = which % lanes;
    const session = this.#session;
    switch (kind) {
      case "write":
        return this.#write(lane);
      case "commit":
        await this.#writers.get(lane)?.commit();
        this.#writers.delete(lane);
        return undefined;
      case "again":
        this.#writers.set(lane, await session.start(lane));
        return undefined;
      case "input":
        return session.acceptInput();
      case "claim":
      case "reset":
        this.#writers.clear();
        return session.claim(
          kind === "claim"
            ? undefined
            : Math.max(0, (await session.truth.head(session.uid)) - (which % 8)),
        );
      default:
        return this.#disturb(kind, lane, this.watchers[which % this.watchers.length]);
    }
  }

  async #disturb(kind: string, lane: number, watcher: Watcher | undefined): Promise<void> {
    const session = this.#session;
    if (kind === "drop" || kind === "receive") session.losesMessages = kind === "drop";
    else if (kind === "lose") session.memory.lose(session.uid, lane);
    else if (kind === "break") session.breakTails();
    else if (kind === "log_away") session.leaveLog();
    else if (kind === "log_back") session.logAway = false;
    else if (kind === "store_away" || kind === "store_back")
      session.storeAway = kind === "store_away";
    else if (kind === "stop") watcher?.stop();
    else if (kind === "go") watcher?.go();
    else if (kind === "move") await watcher?.comeBack();
    else await session.clock.advance(lane * 3_000 + 1);
  }

  async #write(lane: number): Promise<void> {
    const writer = this.#writers.get(lane) ?? (await this.#session.start(lane));
    this.#writers.set(lane, writer);
    this.#words += 1;
    await writer.write(`${this.#words} `);
  }

  /** Ends all faults, writes to each open lane, waits for polls, and compares viewers with the store. */
  async finish(): Promise<void> {
    const session = this.#session;
    session.losesMessages = false;
    session.logAway = false;
    session.storeAway = false;
    for (const watcher of this.watchers) watcher.go();
    for (const lane of this.#writers.keys()) await this.#write(lane);
    for (let round = 0; round < 40; round += 1) {
      await session.clock.advance(500);
      await turn();
    }
    const facts = await session.truth.read(session.uid);
    const truth = snapshot(replay(emptyState(session.uid, name), facts));
    for (const { client, repeated } of this.watchers) {
      expect(client.ended()).toBeUndefined();
      // A reader of its own can't know a lane that the log has lost, and that its viewer's cursor names.
      if (!this.#ownReaders) expect(repeated + client.repeated()).toBe(0);
      expect(snapshot({ ...client.state(), lanes: [] })).toEqual(truth);
      for (const { lane, epoch } of this.#writers.values())
        expect(laneText(client.state(), lane)).toBe(session.texts.get(epoch));
    }
  }
}

/** A delivery flushes in a tick, so a turn of the event loop lets it run. */
const turn = (): Promise<void> => new Promise(setImmediate);

it.each<[string, (hub: Hub, session: SessionFixture) => Watched]>([
  ["watch", (hub) => hub],
  ["deliver in steps", (hub) => ({ watch: (options) => watchAsBytes(hub, options) })],
  [
    "deliver, some in steps and some whole,",
    (hub) => {
      let joins = 0;
      return {
        watch: (options) => {
          joins += 1;
          return watchAsBytes(hub, options, joins % 2 === 0 ? "whole" : "steps");
        },
      };
    },
  ],
  [
    "follow",
    (_, { store, log, clock }) => ({ watch: (of) => follow({ store, log, clock, ...of }) }),
  ],
])(
  "by %s viewers end with the store's state, whatever is lost, broken, undone, away or not read",
  async (way, through) => {
    let histories = 0;
    let joins = 0;
    const steps = fc.array(fc.nat(2 ** 31 - 1), { minLength: 20, maxLength: 60 });
    const kept = fc.record({
      keptMessages: fc.constantFrom(1, 3, 512),
      keptFacts: fc.constantFrom(1, 5, 1_000),
      lingerMs: fc.constantFrom(0, 5_000),
    });

    await fc.assert(
      fc.asyncProperty(steps, kept, async (numbers, options) => {
        const session = await SessionFixture.open();
        const { store, log, clock } = session;
        using hub = createHub({ store, log, clock, ...options });
        const history = new History(session, through(hub, session), way === "follow");
        for (const number of numbers) {
          await history.perform(number);
          if (number % 3 === 0) await turn();
        }
        await history.finish();
        histories += 1;
        for (const watcher of history.watchers) joins += watcher.joins;
      }),
      { numRuns: runs(150, 15_000, 50) },
    );

    console.log(`count: hub by ${way}, ${histories} histories, ${joins} joins, 0 failures`);
  },
);
