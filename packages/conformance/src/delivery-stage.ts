import { packEpoch } from "@millrace/core/ports";
import { emptyState, follow, replay } from "@millrace/core/reading";
import { runId, turnId } from "@millrace/core/writing";
import type { Fact, Item, SessionId, SessionState, SessionUid } from "@millrace/core";
import type { Epoch, EventLog, SessionStore } from "@millrace/core/ports";
import type { FactBody } from "@millrace/core/writing";
import { assert, assertOutcome } from "./case.ts";
import type { MovableClock, OpenedDelivery } from "./delivery-fixture.ts";
import { startHand } from "./delivery-hand.ts";
import type { Hand, StartOptions } from "./delivery-hand.ts";
import { draftText } from "./delivery-text.ts";
import { newName } from "./session-store-fixture.ts";
import { prompt } from "./session-store-bodies.ts";
import { withKeys } from "./with-keys.ts";

/** Real time after which a condition is held to be never fulfilled. */
const patienceMs = 4_000;
const run = runId("run_1");

/**
 * A session with its driver, its writers and what they truly wrote. Viewers are held to that: what
 * they show is always a beginning of it, and in the end all of it.
 */
export class Stage implements AsyncDisposable {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: MovableClock;
  readonly follow: typeof follow;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Writers that hold their lanes, by lane. */
  readonly open: Map<number, Hand> = new Map();
  readonly #hands = new Map<Epoch, Hand>();
  #head = 0;
  #incarnation = 0;
  #generation = 0;
  #turns = 0;
  #said = 0;

  private constructor(opened: OpenedDelivery, uid: SessionUid, name: SessionId) {
    this.store = opened.store;
    this.log = withKeys(opened.log, opened.store.key);
    this.clock = opened.clock;
    this.follow = opened.follow ?? follow;
    this.uid = uid;
    this.sessionId = name;
  }

  /** A session that is claimed, with a run and its first turn begun. */
  static async open(opened: OpenedDelivery): Promise<Stage> {
    const { uid, sessionId: name } = await opened.store.create({ sessionId: newName() });
    const stage = new Stage(opened, uid, name);
    await stage.claim();
    await stage.begin();
    return stage;
  }

  /** The number of the last fact. */
  get head(): number {
    return this.#head;
  }

  /** All that the writer of an epoch has written so far. */
  textOf(epoch: Epoch): string | undefined {
    const hand = this.#hands.get(epoch);
    return hand && draftText(hand.writer.draft());
  }

  /** A person says something. */
  async say(): Promise<void> {
    this.#said += 1;
    const body = prompt(`input_${this.#said}`);
    const answer = await this.store.accept(this.uid, `key_${this.#said}`, body);
    await this.publish(assertOutcome(answer, "accepted", "what was said").facts);
  }

  /** The driver stores facts, and announces them. */
  async decide(bodies: readonly FactBody[]): Promise<void> {
    const request = { incarnation: this.#incarnation, head: this.#head, bodies };
    const answer = await this.store.append(this.uid, request);
    await this.publish(assertOutcome(answer, "appended", "the driver's append").facts);
  }

  /** Another driver takes the session, after a reset if `to` is given. */
  async claim(to?: number): Promise<void> {
    const answer = await this.store.claim(this.uid, { from: this.#incarnation, to });
    const claimed = assertOutcome(answer, "claimed", "the claim");
    this.#incarnation = claimed.incarnation;
    this.#generation = 0;
    this.open.clear();
    await this.publish(claimed.facts);
  }

  /** A run and its first turn. */
  async begin(): Promise<void> {
    this.#turns += 1;
    await this.decide([
      { type: "run_started", runId: run },
      { type: "turn_started", runId: run, turnId: this.#turnId() },
    ]);
  }

  /** Ends the turn, which closes all lanes, and begins the next one. */
  async turn(): Promise<void> {
    const closes = packEpoch({
      incarnation: this.#incarnation,
      generation: this.#generation,
      attempt: 4_095,
    });
    const finished = { runId: run, turnId: this.#turnId(), stop: "end", closes } as const;
    this.#turns += 1;
    this.open.clear();
    await this.decide([
      { type: "turn_finished", ...finished },
      { type: "turn_started", runId: run, turnId: this.#turnId() },
    ]);
  }

  /** Starts a writer, or another attempt at an earlier one's item. */
  async start(options: StartOptions = {}): Promise<Hand> {
    const { again } = options;
    if (again === undefined) this.#generation += 1;
    const epoch =
      again === undefined
        ? packEpoch({ incarnation: this.#incarnation, generation: this.#generation, attempt: 1 })
        : again.epoch + 1;
    const hand = await startHand(this, epoch, options);
    this.#hands.set(epoch, hand);
    this.open.set(hand.lane, hand);
    return hand;
  }

  /** Commits the item of a writer, announces it, and closes the writer. False if it was fenced. */
  async commit(hand: Hand, instead?: Item): Promise<boolean> {
    const facts = await hand.commit(instead);
    if (facts === undefined) return false;
    this.open.delete(hand.lane);
    await this.publish(facts);
    await hand.writer.close();
    return true;
  }

  /** Durable first, then announced. */
  async publish(facts: readonly Fact[]): Promise<void> {
    this.#head = facts.at(-1)?.n ?? this.#head;
    for (const fact of facts) await this.log.announce(this.uid, fact);
  }

  /** What every reader must know in the end. Open lanes are not in it. */
  async truth(): Promise<SessionState> {
    return replay(emptyState(this.uid, this.sessionId), await this.store.read(this.uid));
  }

  /**
   * Lets time pass until something is so. Of short steps a hundred at most, so that nothing is healed
   * by a poll that should have come at once. Engines in memory need no real time; others are given some.
   */
  async until(condition: () => boolean, what: string, stepMs = 10): Promise<void> {
    const start = Date.now();
    for (let round = 0; !condition(); round += 1) {
      assert(Date.now() - start < patienceMs, `never came to be: ${what}`);
      const waits = round < 5 || (round > 105 && stepMs < 100);
      await this.clock.advance(waits ? 0 : stepMs);
      if (round > 105) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A writer whose log fails by design waits for time to pass.
    const closed = Promise.all([...this.#hands.values()].map(({ writer }) => writer.close()));
    await Promise.race([closed, this.clock.advance(60_000)]);
  }

  #turnId(): ReturnType<typeof turnId> {
    return turnId(`turn_${this.#turns}`);
  }
}
