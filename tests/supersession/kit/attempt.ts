import { packEpoch, unpackEpoch } from "@millrace/core/ports";
import type { Epoch, EventLog, SessionStore } from "@millrace/core/ports";
import {
  commitDraft,
  commitOf,
  createLaneWriter,
  itemId,
  noUsage,
  partId,
} from "@millrace/core/writing";
import type { Fact, ItemId, RunId, SessionId, SessionUid, TurnId } from "@millrace/core";
import type { LaneWriter } from "@millrace/core/writing";
import type { Before, Effects } from "./effects.ts";
import type { Schedule } from "./schedule.ts";

/** A session that several writers write at once. */
export interface Contested {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly schedule: Schedule;
  readonly effects: Effects;
  /** The next epoch of an incarnation. */
  readonly nextEpoch: (incarnation: number) => Epoch;
  /** What each epoch writes. */
  readonly texts: Map<Epoch, string>;
}

export interface AttemptOptions {
  readonly session: Contested;
  readonly ports: { readonly store: SessionStore; readonly log: EventLog };
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly lane: number;
  /** Whether it takes the session first, as another process does, or is another try of the same one. */
  readonly claims: boolean;
  /** Nothing of it is held. */
  readonly atOnce?: boolean;
}

const text = partId("p1");
/** Calls of an attempt, of which one may be held until long after. */
const callsAtMost = 8;

/** One attempt at one item, which does not look whether it is superseded. */
export class Attempt {
  readonly options: AttemptOptions;
  /** When it opened its lane, when it learnt that it is fenced, and when it last tried to write. */
  openedAt = Infinity;
  fencedAt = Infinity;
  triedAt = -Infinity;
  fences = 0;
  readonly #session: Contested;
  #epoch: Epoch = 0;
  /** The call after which it is silent for long. */
  #heldAt: number;
  #calls = 0;
  /** Most begin at once; the others when some may be done already. */
  readonly #eager: boolean;

  constructor(options: AttemptOptions) {
    const { schedule } = options.session;
    this.options = options;
    this.#session = options.session;
    this.#eager = schedule.chance(0.7);
    this.#heldAt = schedule.chance(0.2) ? schedule.between(1, callsAtMost) : Infinity;
  }

  /** Whether both held the lane, as far as they knew, and both wrote after this one had opened it. */
  overlaps(older: Attempt): boolean {
    const at = this.openedAt;
    const both = older.openedAt < at && older.fencedAt > at;
    return both && older.triedAt > at && this.triedAt > at;
  }

  async run(): Promise<void> {
    const { schedule, effects } = this.#session;
    if (this.options.atOnce !== true) await schedule.pass({ eager: this.#eager });
    const incarnation = this.options.claims ? await this.#claim() : effects.incarnation;
    if (incarnation === undefined) return;
    this.#epoch = this.#session.nextEpoch(incarnation);
    const head = await this.#open();
    if (head === undefined) return;
    const writer = this.#writer(head);
    writer.write({ op: "begin_part", partId: text, kind: "text" });
    const count = schedule.between(1, 4);
    const pieces = Array.from({ length: count }, (_, at) => `${this.#epoch} says ${at}. `);
    this.#session.texts.set(this.#epoch, pieces.join(""));
    for (const chunk of pieces) {
      await this.#wait();
      writer.write({ op: "append_text", partId: text, chunk });
      if (schedule.chance(0.5)) await writer.flush();
    }
    const end = commitOf(writer.draft(), text);
    if (end !== undefined) writer.write(end);
    await writer.close();
    const facts = await this.#commit(writer);
    if (facts !== undefined && this.options.claims) await this.#report(facts);
  }

  async #wait(): Promise<void> {
    if (this.options.atOnce !== true) await this.#session.schedule.pass();
  }

  /** A call that is held before it takes effect, and perhaps after. */
  async #call<T>(
    call: () => Promise<T>,
    heard: (answer: T, before: Before) => void,
    writes = false,
  ): Promise<T> {
    const { schedule, effects } = this.#session;
    const { lane, atOnce } = this.options;
    if (this.openedAt < Infinity) this.#calls += 1;
    const late = this.#calls === this.#heldAt;
    const first = late && schedule.chance(0.5);
    if (atOnce !== true)
      await schedule.pass({ late: first, eager: this.#eager && this.openedAt === Infinity });
    const before = effects.before(lane);
    effects.tick += 1;
    if (writes) this.triedAt = effects.tick;
    const answer = await schedule.fly(call);
    effects.tick += 1;
    heard(answer, before);
    if (atOnce !== true && (late || schedule.chance(0.3))) {
      await schedule.pass({ late: late && !first });
    }
    return answer;
  }

  async #claim(): Promise<number | undefined> {
    const { uid, sessionId, effects } = this.#session;
    const { store } = this.options.ports;
    for (let left = 3; left > 0; left -= 1) {
      const record = await this.#call(
        () => store.find(sessionId),
        () => undefined,
      );
      const from = record?.incarnation ?? 0;
      const claim = await this.#call(
        () => store.claim(uid, { from }),
        (answer, before) => {
          if (answer.outcome === "claimed") effects.claimed(answer.incarnation, before);
        },
      );
      if (claim.outcome === "claimed") {
        await this.#announce(claim.facts);
        return claim.incarnation;
      }
    }
    return undefined;
  }

  /** The head at which it opened its lane, or nothing. */
  async #open(): Promise<number | undefined> {
    const { uid, effects } = this.#session;
    const { lane, ports } = this.options;
    const epoch = this.#epoch;
    const request = { lane, epoch, itemId: this.options.itemId };
    const opened = await this.#call(
      () => ports.store.open(uid, request),
      (answer, before) => {
        if (answer.outcome !== "opened") return;
        effects.opened(lane, epoch, before);
        this.openedAt = effects.tick;
      },
    );
    if (opened.outcome === "opened") return opened.head;
    this.#fence();
    return undefined;
  }

  #writer(head: number): LaneWriter {
    const { uid, sessionId, runId, effects, schedule } = this.#session;
    const { lane, turnId, itemId, ports } = this.options;
    const epoch = this.#epoch;
    const log: EventLog = {
      ...ports.log,
      append: async (to, batch) => {
        if (this.fencedAt < Infinity) effects.fault(`${epoch} writes though it knows better`);
        return await this.#call(
          () => ports.log.append(to, batch),
          (answer, before) => {
            if (answer.outcome === "stored") effects.stored(lane, epoch, before);
            else if (answer.outcome === "refused" && answer.last.epoch > epoch) this.#fence();
          },
          true,
        );
      },
      nudges: (of, options) => schedule.fly(() => ports.log.nudges(of, options)),
    };
    const clock = schedule.clock;
    const place = { uid, sessionId, runId, turnId, itemId, lane, epoch, head };
    return createLaneWriter({ log, clock, ...place, author: lane === 0 ? "model" : "agent" });
  }

  async #commit(writer: LaneWriter): Promise<readonly Fact[] | undefined> {
    const { uid, runId, effects } = this.#session;
    const { lane, turnId, itemId: id, ports } = this.options;
    const epoch = this.#epoch;
    const author = lane === 0 ? "model" : "agent";
    const item = commitDraft(writer.draft(), { id, author }, { stop: "end" });
    const fact = { type: "item_committed", item, lane, epoch, runId, turnId } as const;
    const committed = await this.#call(
      () => ports.store.commit(uid, { fact }),
      (answer, before) => {
        if (answer.outcome === "committed") effects.committedBy(id, epoch, before);
        else this.#fence();
      },
      true,
    );
    if (committed.outcome !== "committed") return undefined;
    await this.#announce(committed.facts);
    return committed.facts;
  }

  /**
   * Appends what only the session's driver may. If the head has moved it reads, and tries again.
   */
  async #report(facts: readonly Fact[]): Promise<void> {
    const { uid, runId, effects, schedule } = this.#session;
    const { turnId, ports } = this.options;
    const { incarnation } = unpackEpoch(this.#epoch);
    if (schedule.chance(0.5)) return;
    const told = { type: "usage_reported", runId, turnId, epoch: this.#epoch } as const;
    const bodies = [{ ...told, usage: noUsage }];
    let head = facts.at(-1)?.n ?? 0;
    for (let left = 3; left > 0; left -= 1) {
      const at = head;
      const answer = await this.#call(
        () => ports.store.append(uid, { incarnation, head: at, bodies }),
        ({ outcome }, before) => {
          if (outcome === "appended") effects.appended(incarnation, before);
          if (outcome === "fenced") this.fences += 1;
        },
      );
      if (answer.outcome === "appended") await this.#announce(answer.facts);
      if (answer.outcome !== "moved") return;
      ({ head } = answer);
    }
  }

  /** Announcements may be late, and one in ten is lost. */
  async #announce(facts: readonly Fact[]): Promise<void> {
    const { uid, schedule } = this.#session;
    for (const fact of facts) {
      if (schedule.chance(0.1)) continue;
      await this.#call(
        () => this.options.ports.log.announce(uid, fact),
        () => undefined,
      );
    }
  }

  #fence(): void {
    this.fences += 1;
    this.fencedAt = Math.min(this.fencedAt, this.#session.effects.tick);
  }
}

/** Counts the epochs of a session: generations, and attempts of one generation. */
export function countEpochs(random: () => number): (incarnation: number) => Epoch {
  const last = new Map<number, Epoch>();
  return (incarnation) => {
    const { generation, attempt } = unpackEpoch(last.get(incarnation) ?? 0);
    const again = generation > 0 && random() < 0.5;
    const next = again
      ? { incarnation, generation, attempt: attempt + 1 }
      : { incarnation, generation: generation + 1, attempt: 0 };
    const epoch = packEpoch(next);
    last.set(incarnation, epoch);
    return epoch;
  };
}

export function reservedId(turn: number, lane: number): ItemId {
  return itemId(`item_${turn}_${lane}`);
}
