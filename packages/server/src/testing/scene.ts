import {
  commitDraft,
  commitOf,
  createLaneWriter,
  inputId,
  itemId,
  partId,
  runId,
  sessionId,
  turnId,
} from "@millrace/core/writing";
import { packEpoch } from "@millrace/core/ports";
import type { Fact, SessionUid } from "@millrace/core";
import type { Epoch, EventLog, SessionStore } from "@millrace/core/ports";
import type { LaneWriter } from "@millrace/core/writing";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import type { MemoryEventLog } from "@millrace/core/memory";
import type { ManualClock } from "@millrace/core/testing";

/** A reply that is being written. */
export interface Speaker {
  readonly lane: number;
  readonly epoch: Epoch;
  readonly write: (text: string) => Promise<void>;
  readonly commit: () => Promise<void>;
}

/** How often each door of the store and the log was used. */
export interface Counts {
  tails: number;
  reads: number;
  heads: number;
  floors: number;
  laneReads: number;
  /** Lanes asked for. That somebody came is told once for each room, and not counted. */
  nudges: number;
}

export const name = sessionId("scene");
const ids = { runId: runId("run_1"), turnId: turnId("turn_1") };

/** One session in memory with a run and a turn, and counted calls as a hub makes them. */
export class Scene {
  readonly clock: ManualClock = manualClock(1_700_000_000_000);
  readonly counts: Counts = { tails: 0, reads: 0, heads: 0, floors: 0, laneReads: 0, nudges: 0 };
  /** The hub's view of the store and the log. */
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly uid: SessionUid;
  /** While this is true the hub hears nothing. */
  deaf = false;
  /** While this is true the log answers the hub that it holds nothing. */
  forgetful = false;
  /** While this is true the store can't be asked for anything. */
  away = false;
  /** While this is true the hub can't subscribe. */
  unreachable = false;
  /** While this is true what the hub asks of writers is lost. */
  mute = false;
  /** The answer to the hub's next read of all facts waits for this. */
  held: Promise<void> | undefined;
  readonly truth: SessionStore;
  readonly memory: MemoryEventLog;
  /** What each epoch's writer has written. */
  readonly texts: Map<Epoch, string> = new Map();
  #epochs = 0;
  #said = 0;
  #incarnation = 0;
  #break: ((error: Error) => void)[] = [];

  private constructor(truth: SessionStore, uid: SessionUid) {
    this.truth = truth;
    this.uid = uid;
    this.memory = memoryEventLog();
    this.store = this.#countedStore();
    this.log = this.#countedLog();
  }

  static async open(): Promise<Scene> {
    const store = memorySessionStore();
    const { uid } = await store.create({ sessionId: name });
    const scene = new Scene(store, uid);
    await scene.claim();
    const head = await store.head(uid);
    const bodies = [
      { type: "run_started", runId: ids.runId },
      { type: "turn_started", ...ids },
    ] as const;
    const answer = await store.append(uid, { incarnation: scene.#incarnation, head, bodies });
    if (answer.outcome !== "appended") throw new Error(answer.outcome);
    await scene.#announce(answer.facts);
    return scene;
  }

  async claim(to?: number): Promise<void> {
    const answer = await this.truth.claim(this.uid, { from: this.#incarnation, to });
    this.#incarnation = answer.incarnation;
    this.#epochs = 0;
    if (answer.outcome === "claimed") await this.#announce(answer.facts);
  }

  async say(): Promise<void> {
    this.#said += 1;
    const key = `input_${this.#said}`;
    const input = { kind: "prompt", parts: [] } as const;
    const body = { type: "input_accepted", inputId: inputId(key), input } as const;
    const answer = await this.truth.accept(this.uid, key, body);
    if (answer.outcome === "accepted") await this.#announce(answer.facts);
  }

  /** The driver ends the run, whatever its lanes are doing. */
  async finish(): Promise<void> {
    const head = await this.truth.head(this.uid);
    const closes = packEpoch({
      incarnation: this.#incarnation,
      generation: this.#epochs,
      attempt: 1,
    });
    const answer = await this.truth.append(this.uid, {
      incarnation: this.#incarnation,
      head,
      bodies: [{ type: "run_finished", runId: ids.runId, closes, outcome: "completed" }],
    });
    if (answer.outcome !== "appended") throw new Error(answer.outcome);
    await this.#announce(answer.facts);
  }

  async start(lane = 0): Promise<Speaker> {
    const { uid, clock } = this;
    this.#epochs += 1;
    const epoch = packEpoch({
      incarnation: this.#incarnation,
      generation: this.#epochs,
      attempt: 1,
    });
    const item = { ...ids, itemId: itemId(`item_${epoch}`) };
    const opened = await this.truth.open(uid, { lane, epoch, itemId: item.itemId });
    if (opened.outcome !== "opened") throw new Error(opened.outcome);
    const writer = createLaneWriter({
      ...item,
      log: this.memory,
      clock,
      uid,
      sessionId: name,
      lane,
      epoch,
      head: opened.head,
      author: "model",
    });
    const part = partId("p1");
    writer.write({ op: "begin_part", partId: part, kind: "text" });
    return {
      lane,
      epoch,
      write: async (chunk) => {
        this.texts.set(epoch, (this.texts.get(epoch) ?? "") + chunk);
        writer.write({ op: "append_text", partId: part, chunk });
        await writer.flush();
      },
      commit: async () => {
        const end = commitOf(writer.draft(), part);
        if (end !== undefined) writer.write(end);
        await writer.flush();
        await this.#commit(writer, { lane, epoch });
        await writer.close();
      },
    };
  }

  /** All subscriptions that the hub has now throw. */
  breakTails(): void {
    for (const tell of this.#break.splice(0)) tell(new Error("the connection broke"));
  }

  async #commit(
    writer: LaneWriter,
    { lane, epoch }: { readonly lane: number; readonly epoch: number },
  ): Promise<void> {
    const head = { id: itemId(`item_${epoch}`), author: "model" } as const;
    const item = commitDraft(writer.draft(), head, { stop: "end" });
    const fact = { type: "item_committed", item, lane, epoch, ...ids } as const;
    const answer = await this.truth.commit(this.uid, { fact });
    if (answer.outcome === "committed") await this.#announce(answer.facts);
  }

  async #announce(facts: readonly Fact[]): Promise<void> {
    for (const fact of facts) await this.memory.announce(this.uid, fact);
  }

  #countedStore(): SessionStore {
    const { truth, counts } = this;
    return {
      ...truth,
      read: async (uid, options) => {
        counts.reads += 1;
        this.#checkHere();
        const facts = await truth.read(uid, options);
        if (options !== undefined) return facts;
        const { held } = this;
        this.held = undefined;
        await held;
        return facts;
      },
      head: async (uid) => {
        counts.heads += 1;
        this.#checkHere();
        return truth.head(uid);
      },
      floors: async (uid) => {
        counts.floors += 1;
        this.#checkHere();
        return truth.floors(uid);
      },
    };
  }

  #checkHere(): void {
    if (this.away) throw new Error("the store is away");
  }

  #countedLog(): EventLog {
    const { memory, counts } = this;
    return {
      ...memory,
      tail: async (uid, options) => {
        counts.tails += 1;
        if (this.unreachable) throw new Error("the log is away");
        return this.#breakable(await memory.tail(uid, options));
      },
      read: async (uid, lane, after) => {
        counts.laneReads += 1;
        return this.forgetful ? [] : memory.read(uid, lane, after);
      },
      nudge: async (uid, nudge) => {
        if (nudge.kind === "reseed") counts.nudges += 1;
        return this.mute ? undefined : await memory.nudge(uid, nudge);
      },
    };
  }

  async *#breakable<T>(tail: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    const broken = new Promise<never>((_, reject) => this.#break.push(reject));
    const source = tail[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([source.next(), broken]);
      if (next.done === true) return;
      if (!this.deaf) yield next.value;
    }
  }
}
