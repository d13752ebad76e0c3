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
import type { Epoch, EventLog, SessionStore } from "@millrace/core/ports";
import type { Fact, SessionUid } from "@millrace/core";
import type { LaneWriter } from "@millrace/core/writing";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import type { MemoryEventLog } from "@millrace/core/memory";
import type { ManualClock } from "@millrace/core/testing";

/** The writer of one reply, in an open lane. */
export interface ReplyWriter {
  readonly lane: number;
  readonly epoch: Epoch;
  /** Appends the text and flushes. */
  readonly write: (text: string) => Promise<void>;
  /** Ends the lane and stores its item. */
  readonly commit: () => Promise<void>;
}

/** How often the hub called each method of the store and the log. */
export interface Counts {
  tails: number;
  reads: number;
  heads: number;
  floors: number;
  laneReads: number;
  /** Requests to re-seed a lane. Nudges that a lane is watched are not counted. */
  nudges: number;
}

export const name = sessionId("session");
const ids = { runId: runId("run_1"), turnId: turnId("turn_1") };

/** One session in memory with an open run and turn, and a store and log that count calls and can fail. */
export class SessionFixture {
  readonly clock: ManualClock = manualClock(1_700_000_000_000);
  readonly counts: Counts = { tails: 0, reads: 0, heads: 0, floors: 0, laneReads: 0, nudges: 0 };
  /** The store and the log that the hub is given: counted, and subject to the faults below. */
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly uid: SessionUid;
  /** While true, subscriptions of the hub drop every message. */
  losesMessages = false;
  /** While true, the hub's reads of a lane give no batch. */
  logEmpty = false;
  /** While true, the hub's calls of the store throw. */
  storeAway = false;
  /** While true, the hub can't subscribe, and can't read lanes. */
  logAway = false;
  /** While true, nudges of the hub are lost. */
  losesNudges = false;
  /** The hub's next read of all facts resolves after this. */
  heldRead: Promise<void> | undefined;
  /** The store and the log themselves, without counts and faults. */
  readonly truth: SessionStore;
  readonly memory: MemoryEventLog;
  /** What each epoch's writer has written. */
  readonly texts: Map<Epoch, string> = new Map();
  #epochs = 0;
  #inputs = 0;
  #incarnation = 0;
  #break: ((error: Error) => void)[] = [];

  private constructor(truth: SessionStore, uid: SessionUid) {
    this.truth = truth;
    this.uid = uid;
    this.memory = memoryEventLog();
    this.store = this.#countedStore();
    this.log = this.#countedLog();
  }

  static async open(): Promise<SessionFixture> {
    const store = memorySessionStore();
    const { uid } = await store.create({ sessionId: name });
    const session = new SessionFixture(store, uid);
    await session.claim();
    const head = await store.head(uid);
    const bodies = [
      { type: "run_started", runId: ids.runId },
      { type: "turn_started", ...ids },
    ] as const;
    const answer = await store.append(uid, { incarnation: session.#incarnation, head, bodies });
    if (answer.outcome !== "appended") throw new Error(answer.outcome);
    await session.#announce(answer.facts);
    return session;
  }

  async claim(to?: number): Promise<void> {
    const answer = await this.truth.claim(this.uid, { from: this.#incarnation, to });
    this.#incarnation = answer.incarnation;
    this.#epochs = 0;
    if (answer.outcome === "claimed") await this.#announce(answer.facts);
  }

  /** Stores and announces an empty prompt. */
  async acceptInput(): Promise<void> {
    this.#inputs += 1;
    const key = `input_${this.#inputs}`;
    const input = { kind: "prompt", parts: [] } as const;
    const body = { type: "input_accepted", inputId: inputId(key), input } as const;
    const answer = await this.truth.accept(this.uid, key, body);
    if (answer.outcome === "accepted") await this.#announce(answer.facts);
  }

  /** Ends the run as its driver would, with lanes still open. */
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

  /** Opens a lane in a new epoch, which supersedes an earlier one of that lane. */
  async start(lane = 0): Promise<ReplyWriter> {
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
    for (const reject of this.#break.splice(0)) reject(new Error("the connection broke"));
  }

  /** The log goes away with all that the hub has subscribed to. */
  leaveLog(): void {
    this.logAway = true;
    this.breakTails();
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
        const { heldRead } = this;
        this.heldRead = undefined;
        await heldRead;
        return facts;
      },
      head: async (uid) => {
        counts.heads += 1;
        this.#checkHere();
        return truth.head(uid);
      },
      key: async (uid) => {
        this.#checkHere();
        return truth.key(uid);
      },
      heads: async (uids) => {
        counts.heads += 1;
        this.#checkHere();
        const known = uids.includes(this.uid) && (await truth.list()).length > 0;
        return new Map(known ? [[this.uid, await truth.head(this.uid)]] : []);
      },
      floors: async (uid) => {
        counts.floors += 1;
        this.#checkHere();
        return truth.floors(uid);
      },
    };
  }

  #checkHere(): void {
    if (this.storeAway) throw new Error("the store is away");
  }

  #countedLog(): EventLog {
    const { memory, counts } = this;
    return {
      ...memory,
      tail: async (uid, options) => {
        counts.tails += 1;
        if (this.logAway) throw new Error("the log is away");
        return this.#breakable(await memory.tail(uid, options));
      },
      read: async (uid, lane, after) => {
        counts.laneReads += 1;
        if (this.logAway) throw new Error("the log is away");
        return this.logEmpty ? [] : memory.read(uid, lane, after);
      },
      nudge: async (uid, nudge) => {
        if (nudge.kind === "reseed") counts.nudges += 1;
        return this.losesNudges ? undefined : await memory.nudge(uid, nudge);
      },
    };
  }

  async *#breakable<T>(tail: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    const broken = new Promise<never>((_, reject) => this.#break.push(reject));
    const source = tail[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([source.next(), broken]);
      if (next.done === true) return;
      if (!this.losesMessages) yield next.value;
    }
  }
}
