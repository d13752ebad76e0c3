import { assert } from "./case.ts";
import type { Case } from "./case.ts";
import { failingLog, lossyLog } from "./delivery-faults.ts";
import type { LosableDelivery, LosableDeliveryFixture } from "./delivery-fixture.ts";
import type { ItemWriter } from "./delivery-writer.ts";
import { DeliverySession } from "./delivery-session.ts";
import { assertSame, createViewer } from "./delivery-viewer.ts";
import type { Viewer } from "./delivery-viewer.ts";

/**
 * One step of a script: a write or a fault. The numbers select the lane or viewer, and the amount.
 */
export interface Step {
  readonly kind: Kind;
  readonly which: number;
  readonly size: number;
}

/** How often each kind occurs. Writes and cuts are the most frequent. */
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

/** Converts a number from 0 to 2^32 - 1 to a step. */
export function stepOf(random: number): Step {
  const kind = kinds[random % kinds.length] ?? "write";
  const rest = Math.floor(random / kinds.length);
  return { kind, which: rest % 4, size: Math.floor(rest / 4) % 16 };
}

/** Returns the same steps for the same seed, on every machine. */
function randomScript(seed: number, length: number): readonly Step[] {
  let state = seed >>> 0;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return stepOf((state ^ (state >>> 15)) >>> 0);
  });
}

/** What a script came to, for the counts that are printed. */
export interface ScriptOutcome {
  /** How often a viewer reconnected with its cursor. */
  readonly reconnects: number;
  readonly messages: number;
}

/**
 * Runs a script with three viewers that check every message. Then stops all faults and compares the
 * viewers' states with the store.
 */
export async function runScript(
  fixture: LosableDeliveryFixture,
  steps: readonly Step[],
): Promise<ScriptOutcome> {
  await using opened = await fixture.open();
  await using session = await DeliverySession.open(opened);
  const scriptRun = new ScriptRun(session, opened);
  for (const step of steps) await scriptRun.perform(step);
  return await scriptRun.finish();
}

class ScriptRun {
  readonly #session: DeliverySession;
  readonly #opened: LosableDelivery;
  readonly #viewers: readonly Viewer[];
  /** How many messages each viewer's log drops next. */
  readonly #drops = [0, 0, 0];
  /** How many appends fail next, and whether before or after they are stored. */
  #outage = 0;
  #outageSide: "before" | "after" = "before";
  #words = 0;
  /** Writers that were superseded and continue to write. */
  readonly #zombies = new Map<number, ItemWriter>();

  constructor(session: DeliverySession, opened: LosableDelivery) {
    this.#session = session;
    this.#opened = opened;
    this.#viewers = this.#drops.map((_, at) => {
      const log = lossyLog(opened.log, () => this.#takeDrop(at));
      // One viewer is also cut while it reads, not only between two steps.
      return createViewer(session, { log, cutEvery: at === 2 ? 5 : undefined });
    });
    for (const viewer of this.#viewers) viewer.connect();
  }

  async perform({ kind, which, size }: Step): Promise<void> {
    const session = this.#session;
    const writer = session.open.get(which);
    switch (kind) {
      case "write":
        return (writer ?? (await this.#start(which))).write(this.#word());
      case "commit":
        if (writer !== undefined) await session.commit(writer);
        return undefined;
      case "retry":
        if (writer === undefined) return undefined;
        this.#zombies.set(which, writer);
        await session.start({ again: writer, log: this.#log() });
        return undefined;
      case "zombie":
        return this.#writeAsZombie(this.#zombies.get(which), size);
      case "say":
        return session.acceptInput();
      case "turn":
        this.#markZombies();
        return session.nextTurn();
      case "claim":
        this.#markZombies();
        await session.claim();
        return session.begin();
      case "reset":
        this.#markZombies();
        await session.claim(Math.max(0, session.head - size));
        return session.begin();
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
      await this.#opened.lose(this.#session.uid, which === 3 ? undefined : which);
    } else if (kind === "deaf") {
      this.#drops[which % 3] = size;
    } else if (kind === "outage") {
      this.#outage = size % 4;
      this.#outageSide = which % 2 > 0 ? "before" : "after";
    } else {
      await this.#session.clock.advance(size * size * 10);
    }
  }

  /** Writes with a superseded writer, and sometimes tries to commit. */
  async #writeAsZombie(zombie: ItemWriter | undefined, size: number): Promise<void> {
    if (zombie === undefined) return;
    await zombie.write(this.#word());
    if (size % 3 > 0) return;
    const committed = await this.#session.commit(zombie);
    assert(!committed, `a zombie committed ${zombie.itemId}`);
  }

  /** Stops all faults and waits until every viewer is complete. */
  async finish(): Promise<ScriptOutcome> {
    const session = this.#session;
    this.#drops.fill(0);
    this.#outage = 0;
    await assertSame(session, this.#viewers, 1_000);
    for (const writer of session.open.values()) {
      assert(await session.commit(writer), `the holder of lane ${writer.lane} commits`);
    }
    await assertSame(session, this.#viewers, 1_000);
    for (const viewer of this.#viewers) await viewer.cut();
    const count = (of: (viewer: Viewer) => number): number =>
      this.#viewers.reduce((sum, viewer) => sum + of(viewer), 0);
    return {
      reconnects: count((viewer) => viewer.connections() - 1),
      messages: count((viewer) => viewer.messages()),
    };
  }

  #start(lane: number): Promise<ItemWriter> {
    return this.#session.start({ lane, tool: lane > 0, log: this.#log() });
  }

  #log(): LosableDelivery["log"] {
    return failingLog(this.#opened.log, () => {
      if (this.#outage === 0) return undefined;
      this.#outage -= 1;
      return this.#outageSide;
    });
  }

  /** Records the current writers as superseded. They may continue to write. */
  #markZombies(): void {
    for (const [lane, writer] of this.#session.open) this.#zombies.set(lane, writer);
  }

  #word(): string {
    this.#words += 1;
    return `word${this.#words} `;
  }

  #takeDrop(viewer: number): boolean {
    const left = this.#drops[viewer] ?? 0;
    if (left > 0) this.#drops[viewer] = left - 1;
    return left > 0;
  }
}

/**
 * After any steps in any order, all viewers have seen every text once and end in the same state.
 */
export const randomCases: readonly Case<LosableDeliveryFixture>[] = [1, 2, 3, 4, 5].map((seed) => ({
  name: `viewers end like the store after a random script (seed ${seed})`,
  run: async (fixture) => {
    const { reconnects } = await runScript(fixture, randomScript(seed, 80));
    assert(reconnects > 0, "a viewer reconnected");
  },
}));
