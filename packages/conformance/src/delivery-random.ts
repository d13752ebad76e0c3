import { assert } from "./case.ts";
import type { Case } from "./case.ts";
import { brokenLog, deafLog } from "./delivery-faults.ts";
import type { LosableDelivery, LosableDeliveryFixture } from "./delivery-fixture.ts";
import type { Hand } from "./delivery-hand.ts";
import { Stage } from "./delivery-stage.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";
import type { Viewer } from "./delivery-viewer.ts";

/** One thing that happens: somebody writes, or something goes wrong. Numbers say who, where, how much. */
export interface Step {
  readonly kind: Kind;
  readonly which: number;
  readonly size: number;
}

/** How often each happens. Writing and being cut off are the most frequent. */
const weights = {
  write: 7,
  cut: 6,
  commit: 2,
  retry: 1,
  zombie: 1,
  say: 1,
  turn: 1,
  claim: 1,
  reset: 1,
  lose: 1,
  deaf: 2,
  outage: 1,
  wait: 2,
};
type Kind = keyof typeof weights;
const kinds = (Object.keys(weights) as Kind[]).flatMap((kind) =>
  Array.from({ length: weights[kind] }, () => kind),
);

/** Every number from 0 to 2^32 - 1 is a step. */
export function stepOf(random: number): Step {
  const kind = kinds[random % kinds.length] ?? "write";
  const rest = Math.floor(random / kinds.length);
  return { kind, which: rest % 4, size: Math.floor(rest / 4) % 16 };
}

/** The same steps for the same seed, on every machine. */
export function randomScript(seed: number, length: number): readonly Step[] {
  let state = seed >>> 0;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return stepOf((state ^ (state >>> 15)) >>> 0);
  });
}

/** What a script came to, for the counts that are printed. */
export interface ScriptOutcome {
  /** How often a viewer came back with its cursor. */
  readonly reconnects: number;
  readonly messages: number;
}

/**
 * Plays a script before three viewers, who check every message, then lets everything heal and
 * compares what they know with the store.
 */
export async function runScript(
  fixture: LosableDeliveryFixture,
  steps: readonly Step[],
): Promise<ScriptOutcome> {
  await using opened = await fixture.open();
  await using stage = await Stage.open(opened);
  const play = new Play(stage, opened);
  for (const step of steps) await play.perform(step);
  return await play.finish();
}

class Play {
  readonly #stage: Stage;
  readonly #opened: LosableDelivery;
  readonly #viewers: readonly Viewer[];
  /** How many messages each viewer will not hear. */
  readonly #deaf = [0, 0, 0];
  /** How many appends will fail, and on which side of being stored. */
  #outage = 0;
  #outageSide: "before" | "after" = "before";
  #words = 0;
  /** Writers that lost their lanes and don't know it. */
  readonly #zombies = new Map<number, Hand>();

  constructor(stage: Stage, opened: LosableDelivery) {
    this.#stage = stage;
    this.#opened = opened;
    this.#viewers = this.#deaf.map((_, at) => {
      const log = deafLog(opened.log, () => this.#isDeaf(at));
      // One of them is also cut off in the middle of things, not only between two steps.
      return createViewer(stage, { log, cutEvery: at === 2 ? 5 : undefined });
    });
    for (const viewer of this.#viewers) viewer.connect();
  }

  async perform({ kind, which, size }: Step): Promise<void> {
    const stage = this.#stage;
    const hand = stage.open.get(which);
    switch (kind) {
      case "write":
        return (hand ?? (await this.#start(which))).write(this.#word());
      case "commit":
        if (hand !== undefined) await stage.commit(hand);
        return undefined;
      case "retry":
        if (hand === undefined) return undefined;
        this.#zombies.set(which, hand);
        await stage.start({ again: hand, log: this.#log() });
        return undefined;
      case "zombie":
        return this.#haunt(this.#zombies.get(which), size);
      case "say":
        return stage.say();
      case "turn":
        this.#bury();
        return stage.turn();
      case "claim":
        this.#bury();
        await stage.claim();
        return stage.begin();
      case "reset":
        this.#bury();
        await stage.claim(Math.max(0, stage.head - size));
        return stage.begin();
      default:
        return this.#disturb(kind, which, size);
    }
  }

  async #disturb(kind: Kind, which: number, size: number): Promise<void> {
    const viewer = this.#viewers[which % 3];
    if (kind === "cut" && viewer !== undefined) {
      await viewer.cut();
      viewer.connect();
    } else if (kind === "lose") {
      await this.#opened.lose(this.#stage.uid, which === 3 ? undefined : which);
    } else if (kind === "deaf") {
      this.#deaf[which % 3] = size;
    } else if (kind === "outage") {
      this.#outage = size % 4;
      this.#outageSide = which % 2 > 0 ? "before" : "after";
    } else {
      await this.#stage.clock.advance(size * size * 10);
    }
  }

  /** Whoever lost its lane writes on, and now and then tries to commit. */
  async #haunt(zombie: Hand | undefined, size: number): Promise<void> {
    if (zombie === undefined) return;
    await zombie.write(this.#word());
    if (size % 3 > 0) return;
    const committed = await this.#stage.commit(zombie);
    assert(!committed, `a zombie committed ${zombie.itemId}`);
  }

  /** Nothing goes wrong any more, so all must come right. */
  async finish(): Promise<ScriptOutcome> {
    const stage = this.#stage;
    this.#deaf.fill(0);
    this.#outage = 0;
    await assertSame(stage, this.#viewers, 1_000);
    for (const hand of stage.open.values()) {
      assert(await stage.commit(hand), `the holder of lane ${hand.lane} commits`);
    }
    await assertSame(stage, this.#viewers, 1_000);
    for (const viewer of this.#viewers) await viewer.cut();
    const count = (of: (viewer: Viewer) => number): number =>
      this.#viewers.reduce((sum, viewer) => sum + of(viewer), 0);
    return {
      reconnects: count((viewer) => viewer.connections() - 1),
      messages: count((viewer) => viewer.messages()),
    };
  }

  #start(lane: number): Promise<Hand> {
    return this.#stage.start({ lane, tool: lane > 0, log: this.#log() });
  }

  #log(): LosableDelivery["log"] {
    return brokenLog(this.#opened.log, () => {
      if (this.#outage === 0) return undefined;
      this.#outage -= 1;
      return this.#outageSide;
    });
  }

  /** All who write now are over, and may go on all the same. */
  #bury(): void {
    for (const [lane, hand] of this.#stage.open) this.#zombies.set(lane, hand);
  }

  #word(): string {
    this.#words += 1;
    return `word${this.#words} `;
  }

  #isDeaf(viewer: number): boolean {
    const left = this.#deaf[viewer] ?? 0;
    if (left > 0) this.#deaf[viewer] = left - 1;
    return left > 0;
  }
}

/** Whatever happens in whatever order, all see every text once and end in the same state. */
export const randomCases: readonly Case<LosableDeliveryFixture>[] = [1, 2, 3, 4, 5].map((seed) => ({
  name: `viewers end like the store after a random script (seed ${seed})`,
  run: async (fixture) => {
    const { reconnects } = await runScript(fixture, randomScript(seed, 80));
    assert(reconnects > 0, "somebody was cut off");
  },
}));
