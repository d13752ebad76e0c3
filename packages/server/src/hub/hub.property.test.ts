import { emptyState, replay, snapshot } from "@millrace/core/reading";
import fc from "fast-check";
import { expect, it } from "vitest";
import { watchAsBytes } from "../testing/as-bytes.ts";
import { createClient } from "../testing/client.ts";
import type { Client } from "../testing/client.ts";
import { laneText } from "../testing/lane-text.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { name, Scene } from "../testing/scene.ts";
import type { Speaker } from "../testing/scene.ts";
import { createHub } from "./hub.ts";
import type { Hub } from "./hub.ts";

/** How often each happens, by how often it is named. */
const kinds = [
  "write",
  "write",
  "write",
  "write",
  "write",
  "write",
  "commit",
  "again",
  "say",
  "say",
  "reset",
  "claim",
  "deaf",
  "hear",
  "hear",
  "lose",
  "break",
  "stop",
  "go",
  "move",
  "wait",
] as const;
const lanes = 3;

/** Somebody who watches, stops reading, goes and comes back with what it has. */
class Watcher {
  readonly #hub: Pick<Hub, "watch">;
  readonly #scene: Scene;
  #gate: PromiseWithResolvers<void> | undefined;
  client: Client;
  joins = 1;

  constructor(hub: Pick<Hub, "watch">, scene: Scene) {
    this.#hub = hub;
    this.#scene = scene;
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
    this.joins += 1;
    this.client = this.#connect(client);
  }

  #connect(last?: Client): Client {
    const client: Client = createClient(this.#hub, this.#scene, {
      state: last?.state(),
      cursor: last?.cursor(),
      pace: async () => {
        for (const { lane, epoch } of client.state().lanes) {
          const shown = laneText(client.state(), lane) ?? "";
          const written = this.#scene.texts.get(epoch) ?? "";
          if (!written.startsWith(shown)) throw new TypeError(`${shown} of ${written}`);
        }
        await this.#gate?.promise;
      },
    });
    return client;
  }
}

class Play {
  readonly #scene: Scene;
  readonly #speakers = new Map<number, Speaker>();
  readonly watchers: readonly Watcher[];
  #words = 0;

  constructor(scene: Scene, hub: Pick<Hub, "watch">) {
    this.#scene = scene;
    this.watchers = [1, 2, 3, 4].map(() => new Watcher(hub, scene));
  }

  async perform(random: number): Promise<void> {
    const kind = kinds[random % kinds.length] ?? "write";
    const which = Math.floor(random / kinds.length) % (lanes * 4 * 8);
    const lane = which % lanes;
    const scene = this.#scene;
    switch (kind) {
      case "write":
        return this.#write(lane);
      case "commit":
        await this.#speakers.get(lane)?.commit();
        this.#speakers.delete(lane);
        return undefined;
      case "again":
        this.#speakers.set(lane, await scene.start(lane));
        return undefined;
      case "say":
        return scene.say();
      case "claim":
      case "reset":
        this.#speakers.clear();
        return scene.claim(
          kind === "claim"
            ? undefined
            : Math.max(0, (await scene.truth.head(scene.uid)) - (which % 8)),
        );
      default:
        return this.#disturb(kind, lane, this.watchers[which % this.watchers.length]);
    }
  }

  async #disturb(kind: string, lane: number, watcher: Watcher | undefined): Promise<void> {
    const scene = this.#scene;
    if (kind === "deaf" || kind === "hear") scene.deaf = kind === "deaf";
    else if (kind === "lose") scene.memory.lose(scene.uid, lane);
    else if (kind === "break") scene.breakTails();
    else if (kind === "stop") watcher?.stop();
    else if (kind === "go") watcher?.go();
    else if (kind === "move") await watcher?.comeBack();
    else await scene.clock.advance(lane * 3_000 + 1);
  }

  async #write(lane: number): Promise<void> {
    const speaker = this.#speakers.get(lane) ?? (await this.#scene.start(lane));
    this.#speakers.set(lane, speaker);
    this.#words += 1;
    await speaker.write(`${this.#words} `);
  }

  /** Nothing goes wrong any more. A word in each open lane, and time for a poll. */
  async finish(): Promise<void> {
    const scene = this.#scene;
    scene.deaf = false;
    for (const watcher of this.watchers) watcher.go();
    for (const lane of this.#speakers.keys()) await this.#write(lane);
    for (let round = 0; round < 40; round += 1) {
      await scene.clock.advance(500);
      await turn();
    }
    const facts = await scene.truth.read(scene.uid);
    const truth = snapshot(replay(emptyState(scene.uid, name), facts));
    for (const { client } of this.watchers) {
      expect(client.ended()).toBeUndefined();
      expect(snapshot({ ...client.state(), lanes: [] })).toEqual(truth);
      for (const { lane, epoch } of this.#speakers.values())
        expect(laneText(client.state(), lane)).toBe(scene.texts.get(epoch));
    }
  }
}

/** What is delivered goes out in a tick: when nothing else is to be done. */
const turn = (): Promise<void> => new Promise(setImmediate);

it.each<[string, (hub: Hub) => Pick<Hub, "watch">]>([
  ["watch", (hub) => hub],
  ["deliver", (hub) => ({ watch: (options) => watchAsBytes(hub, options) })],
])(
  "by %s viewers end like the store, whatever is lost, broken, undone or not read",
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
        const scene = await Scene.open();
        const { store, log, clock } = scene;
        using hub = createHub({ store, log, clock, ...options });
        const play = new Play(scene, through(hub));
        for (const number of numbers) {
          await play.perform(number);
          if (number % 3 === 0) await turn();
        }
        await play.finish();
        histories += 1;
        for (const watcher of play.watchers) joins += watcher.joins;
      }),
      { numRuns: runs(150, 15_000) },
    );

    console.log(`count: hub by ${way}, ${histories} histories, ${joins} joins, 0 failures`);
  },
);
