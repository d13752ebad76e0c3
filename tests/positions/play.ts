import { systemClock } from "@millrace/core/memory";
import { isDeepStrictEqual } from "node:util";
import { project } from "@millrace/core";
import { apply, emptyState, follow } from "@millrace/core/reading";
import { decodeCursor } from "@millrace/core/wire";
import type { Fact, Item, ItemId, SessionState, SessionUid, View } from "@millrace/core";
import type { Batch, Clock, Epoch } from "@millrace/core/ports";
import { createHub } from "@millrace/server/hub";
import type { Hub } from "@millrace/server/hub";
import { Random } from "../kit/random.ts";
import type { Backend } from "./backends.ts";
import { storeTime } from "./record.ts";
import type { Recording } from "./record.ts";
import type { Call } from "./recorder.ts";
import { nameOfFact } from "./tally.ts";
import type { Tally } from "./tally.ts";
import { operationsPerPart, placeOf, textOf, Viewer } from "./viewer.ts";
import type { Left, OpenReader } from "./viewer.ts";

export interface PlayOptions {
  readonly recording: Recording;
  readonly backend: Backend;
  readonly tally: Tally;
  /**
   * Of the cursors that later viewers get, one in so many is used. With 1 all of them are, and also
   * the cursors of viewers that reconnected.
   */
  readonly oneIn: number;
}

/** No poll ends by time: every message arrives because it was sent. Only short waits of a join end. */
const stillClock: Clock = {
  now: () => storeTime,
  monotonic: () => 0,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (ms <= 100) return resolve();
      if (signal?.aborted === true) resolve();
      else signal?.addEventListener("abort", () => resolve(), { once: true });
    }),
  after: systemClock.after,
};

/** How many come back at once at the end. */
const crowd = 64;

/**
 * Plays a recording into a backend, with viewers from the start, and others that reconnect at every
 * cursor which those got: once on the way, to stay, and once at the end. Returns the final state as
 * text.
 */
export async function play(options: PlayOptions): Promise<string> {
  // Some hubs keep so little that they must often restate lanes or send a snapshot.
  const { seed } = options.recording;
  const kept = seed % 3 === 0 ? { keptMessages: 4 } : seed % 3 === 1 ? { keptFacts: 6 } : {};
  using hub = createHub({ ...portsOf(options.backend), clock: stillClock, ...kept });
  return await new Play(options, hub).run();
}

function portsOf({ store, log }: Backend): Pick<Backend, "store" | "log"> {
  return { store, log };
}

class Play {
  readonly #options: PlayOptions;
  readonly #uid: SessionUid;
  readonly #random: Random;
  readonly #readers: Readonly<Record<"follow" | "hub", OpenReader>>;
  readonly #facts: Fact[] = [];
  readonly #announced = new Set<number>();
  readonly #floors = new Map<number, Epoch>();
  readonly #begun = new Set<ItemId>();
  /** Everything that is stored and appended: what a viewer must come to know. */
  #truth: SessionState;
  /** Cursors of the viewers from the start, and of all others, by what makes them differ. */
  readonly #watched = new Map<string, Left>();
  readonly #others = new Map<string, Left>();
  /** Of the first sort, those that are still to be used on the way. */
  #fresh: Left[] = [];
  /** Of the second sort, those that were given at this moment. */
  #amid: Left[] = [];
  readonly #schedule = new Map<number, Left[]>();
  /** What is shown of the session in the end. */
  #view: ReturnType<typeof viewOf> | undefined;
  readonly #staying: Viewer[] = [];
  #arriving: Viewer[] = [];

  constructor(options: PlayOptions, hub: Hub) {
    const { recording, backend } = options;
    this.#options = options;
    this.#uid = backend.uidOf(recording);
    this.#random = new Random(recording.seed);
    this.#truth = emptyState(this.#uid, recording.sessionId);
    this.#readers = { follow: this.#followed(), hub: this.#hubbed(hub) };
  }

  async run(): Promise<string> {
    const { recording, tally, oneIn } = this.#options;
    const { calls } = recording;
    const watch = (left: Left): void => {
      if (this.#note(this.#watched, left)) this.#fresh.push(left);
    };
    const other = (left: Left): void => {
      if (this.#note(this.#others, left)) this.#amid.push(left);
    };
    const first = this.#arrive(undefined, watch);
    // The place of nothing is where it begins: the snapshot must have come all the same.
    for (const viewer of first) await viewer.told();
    await this.#settle(true);
    for (const [at, call] of calls.entries()) {
      await this.#perform(call);
      const quiet = this.#quiet();
      const coming = this.#schedule.get(at) ?? [];
      // Some come while what was written last is still on its way, others when all others have it.
      const soon = quiet ? coming.filter((_, place) => place % 2 === 0) : coming;
      for (const left of soon) this.#arrive(left, other);
      tally.midway += coming.length * 2;
      if (!quiet) continue;
      await this.#settle(false);
      for (const viewer of first) await viewer.reach(placeOf(this.#truth));
      for (const left of coming) if (!soon.includes(left)) this.#arrive(left, other);
      if (this.#random.chance(0.25)) {
        this.#arrive(undefined, other);
        tally.late += 2;
      }
      await this.#settle(true);
      await this.#comeBackAmid(other);
      this.#plan(at + 1, calls.length);
    }
    if (this.#announced.size !== this.#truth.head) throw new Error("not all facts are announced");
    const text = await this.#leave();
    tally.last += this.#fresh.length;
    tally.cursors += this.#fresh.length;
    for (const key of this.#watched.keys()) this.#others.delete(key);
    const some = [...this.#others.values()].filter((_, at) => at % oneIn === 0);
    await this.#comeBack(text, [...this.#watched.values(), ...some]);
    tally.sessions += 1;
    return text;
  }

  /**
   * All viewers have the same: what is stored is announced, and no attempt was opened that has not
   * written yet. Until then a new viewer is not shown the attempt before it, and others still are.
   */
  #quiet(): boolean {
    return (
      this.#announced.size === this.#truth.head &&
      this.#truth.lanes.every(({ lane, epoch }) => epoch >= (this.#floors.get(lane) ?? 0))
    );
  }

  /** Two come, by two ways. */
  #arrive(left: Left | undefined, given: (left: Left) => void): readonly Viewer[] {
    const { sessionId } = this.#options.recording;
    const state = left?.state ?? emptyState(this.#uid, sessionId);
    const viewers = (["follow", "hub"] as const).map((way) => {
      const name = `session ${this.#options.recording.seed} by ${way}`;
      return new Viewer({ name, open: this.#readers[way], state, cursor: left?.cursor, given });
    });
    this.#arriving.push(...viewers);
    this.#staying.push(...viewers);
    return viewers;
  }

  /**
   * Every viewer that joined since the last time is now up to date. If nothing was written since,
   * it got few messages.
   */
  async #settle(calm: boolean): Promise<void> {
    const place = placeOf(this.#truth);
    const arriving = this.#arriving;
    if (arriving.length === 0) return;
    this.#arriving = [];
    const text = textOf(this.#truth);
    for (const viewer of arriving) {
      await viewer.reach(place);
      assertSame(textOf(viewer.state), text, `${viewer.name} from ${viewer.cursor} on the way`);
      if (calm) this.#checkWelcome(viewer);
      else viewer.welcome();
    }
  }

  /**
   * A new viewer gets one snapshot. One that reconnects gets facts, and for each lane either a
   * restatement or, from a hub, a few last batches. A restatement has one operation for each part.
   */
  #checkWelcome(viewer: Viewer): void {
    const { tally } = this.#options;
    const told = viewer.welcome();
    if (viewer.cursor === undefined && told.length !== 1)
      throw new Error(`${viewer.name} is new and gets ${told.length} messages`);
    const batches = told.filter((message) => "first" in message);
    const wholes = told.flatMap((message) => ("closedLanes" in message ? message.lanes : []));
    wholes.push(...batches.filter(({ first }) => first === 0));
    for (const batch of wholes) {
      const most = operationsPerPart(batch);
      tally.operations = Math.max(tally.operations, most);
      if (most > 1) throw new Error(`${viewer.name} gets ${most} operations for one part`);
    }
    for (const { lane } of this.#truth.lanes) {
      const count = batches.filter((batch) => batch.lane === lane).length;
      if (count > (viewer.name.endsWith("follow") ? 1 : 64))
        throw new Error(`${viewer.name} gets ${count} batches of one lane`);
    }
  }

  /**
   * A viewer that was cut off in the midst of a welcome reconnects at once, while lanes are open:
   * always if there are several, since then it got a part of them.
   */
  async #comeBackAmid(given: (left: Left) => void): Promise<void> {
    const { lanes } = this.#truth;
    const place = placeOf(this.#truth);
    const amid = this.#amid.filter(({ state }) => placeOf(state) !== place);
    this.#amid = [];
    if (lanes.length === 0) return;
    for (const left of amid) {
      if (lanes.length === 1 && !this.#random.chance(0.1)) continue;
      this.#arrive(left, given);
      this.#options.tally.amid += 2;
    }
    await this.#settle(true);
    this.#amid = [];
  }

  /** All viewers that stayed have the same state in the end. */
  async #leave(): Promise<string> {
    const final = this.#truth;
    const text = textOf(final);
    for (const viewer of this.#staying) {
      await viewer.reach(placeOf(final));
      this.#compare(viewer, text);
    }
    for (const viewer of this.#staying) await viewer[Symbol.asyncDispose]();
    return text;
  }

  #compare(viewer: Viewer, text: string): void {
    const what = `${viewer.name} from ${viewer.cursor} in the end`;
    assertSame(textOf(viewer.state), text, what);
    this.#view ??= viewOf(this.#truth);
    if (!isDeepStrictEqual(viewOf(viewer.state), this.#view))
      throw new Error(`${what} has another view`);
  }

  /** After the end, by the hub that was there all the time, by one that was not, and without one. */
  async #comeBack(text: string, lefts: readonly Left[]): Promise<void> {
    const { backend, oneIn, tally } = this.#options;
    using cold = createHub({ ...portsOf(backend), clock: stillClock });
    const ways = [
      ["follow at the end", this.#readers.follow],
      ["hub at the end", this.#readers.hub],
      ["another hub", this.#hubbed(cold)],
    ] as const;
    let waiting = lefts;
    while (waiting.length > 0) {
      const next: Left[] = [];
      const given = (left: Left): void => {
        if (oneIn === 1 && this.#isNew(left)) next.push(left);
      };
      for (let at = 0; at < waiting.length; at += crowd) {
        const viewers = waiting
          .slice(at, at + crowd)
          .flatMap(({ cursor, state }) =>
            ways.map(([name, open]) => new Viewer({ name, open, cursor, state, given })),
          );
        for (const viewer of viewers) {
          await viewer.reach(placeOf(this.#truth));
          this.#compare(viewer, text);
        }
        for (const viewer of viewers) await viewer[Symbol.asyncDispose]();
        tally.atEnd += viewers.length;
      }
      waiting = next;
    }
    tally.others += this.#others.size;
  }

  /** Each new cursor of the first viewers is used once between now and the end. */
  #plan(from: number, end: number): void {
    if (from >= end) return;
    for (const left of this.#fresh) {
      const at = from + this.#random.below(end - from);
      this.#schedule.set(at, [...(this.#schedule.get(at) ?? []), left]);
    }
    this.#options.tally.cursors += this.#fresh.length;
    this.#fresh = [];
  }

  /** True if no viewer of these got this cursor in this state before. */
  #note(known: Map<string, Left>, left: Left): boolean {
    const key = keyOf(left);
    if (known.has(key)) return false;
    known.set(key, left);
    return true;
  }

  #isNew(left: Left): boolean {
    return !this.#watched.has(keyOf(left)) && this.#note(this.#others, left);
  }

  async #perform(call: Call): Promise<void> {
    const { store, log } = this.#options.backend;
    if (call.kind === "announce") {
      const fact = this.#facts[call.n - 1];
      if (fact === undefined) throw new Error(`the fact ${call.n} is announced and not stored`);
      await log.announce(this.#uid, fact);
      this.#announced.add(call.n);
      return;
    }
    const answer =
      call.kind === "store"
        ? await call.play(store, this.#uid)
        : await log.append(this.#uid, call.batch);
    if (answer.outcome !== call.outcome)
      throw new Error(`a ${call.kind} is ${answer.outcome} here and was ${call.outcome}`);
    const opened = answer.outcome === "opened" || answer.outcome === "appended";
    if (call.kind === "store" && call.opens !== undefined && opened)
      this.#floors.set(call.opens.lane, call.opens.epoch);
    if ("facts" in answer) for (const fact of answer.facts ?? []) this.#know(fact);
    if (call.kind === "append" && answer.outcome === "stored") this.#know(call.batch);
  }

  #know(message: Fact | Batch): void {
    const { state, verdict } = apply(this.#truth, message);
    if (verdict === "gap") throw new Error("the recording has a gap");
    this.#truth = state;
    if ("n" in message) this.#facts.push(message);
    this.#count("n" in message ? nameOfFact(message) : this.#nameOfBatch(message));
    if (state.lanes.length > 1) this.#count("lanes at once");
  }

  #count(what: string): void {
    const { held } = this.#options.tally;
    held.set(what, (held.get(what) ?? 0) + 1);
  }

  #nameOfBatch({ first, itemId, events }: Batch): string {
    if (first === 0) {
      if (this.#begun.has(itemId)) return "another attempt, or all of it anew";
      this.#begun.add(itemId);
      return "first attempt";
    }
    const bytes = events.some(
      (event) => event.type === "content_delta" && event.delta.op === "append_bytes",
    );
    return bytes ? "batch with bytes" : "batch";
  }

  #followed(): OpenReader {
    const { backend, recording } = this.#options;
    const { sessionId } = recording;
    return (text, signal) => {
      const cursor = text === undefined ? undefined : decodeCursor(text);
      const reader = { uid: this.#uid, sessionId, clock: stillClock, cursor, signal };
      return follow({ ...portsOf(backend), ...reader });
    };
  }

  #hubbed(hub: Hub): OpenReader {
    const { sessionId } = this.#options.recording;
    return (text, signal) => {
      const cursor = text === undefined ? undefined : decodeCursor(text);
      return hub.watch({ uid: this.#uid, sessionId, cursor, signal });
    };
  }
}

function viewOf(state: SessionState): { readonly view: View; readonly items: readonly Item[] } {
  return { view: project(state), items: state.items.toArray() };
}

function keyOf({ cursor, state }: Left): string {
  return `${cursor} ${placeOf(state)}`;
}

function assertSame(actual: string, expected: string, what: string): void {
  if (actual === expected) return;
  let at = 0;
  while (actual[at] === expected[at]) at += 1;
  const near = (text: string): string => text.slice(Math.max(0, at - 80), at + 80);
  throw new Error(`${what}:\n${near(actual)}\nand not\n${near(expected)}`);
}
